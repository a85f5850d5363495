// How fast a tokenizer encodes text, on one thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sluice/base/job_control.h"

namespace sluice::bench {

struct TokenizerRequest {
  std::string tokenizer;           // a tokenizer.json or a model directory
  std::vector<std::string> texts;  // as data/text_reader.h takes them
  int repetitions = 5;
};

struct TokenizerSpeed {
  int64_t bytes = 0, tokens = 0;  // of the texts
  int repetitions = 0;
  double seconds = 0;        // median
  double first_seconds = 0;  // with nothing remembered of earlier words

  double megabytes_per_second() const { return static_cast<double>(bytes) / 1e6 / seconds; }
  double first_megabytes_per_second() const { return static_cast<double>(bytes) / 1e6 / first_seconds; }
};

TokenizerSpeed measure_tokenizer(const TokenizerRequest& request, const JobControl& control = {});

nlohmann::ordered_json to_json(const TokenizerSpeed& speed);
std::string to_text(const TokenizerSpeed& speed);

}  // namespace sluice::bench
