// Who watches the demo; called on its thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sluice/train/run.h"

namespace sluice {

struct DemoObserver {
  struct NextModel {
    std::string variant;
    int64_t parameters = 0, tokens = 0;
  };
  std::function<void(int64_t documents)> nursery_begins = {};
  // With what the exhibit says.
  std::function<void(const std::string& title, const std::string& answer)> nursery_ended = {};
  std::function<void(int64_t bytes)> corpus_begins = {};
  std::function<void(const NextModel&)> model_begins = {};
  std::function<void()> breaking_begins = {};
  RunObserver run = {};  // of each model
};

}  // namespace sluice
