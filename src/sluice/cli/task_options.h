// --task: what a model is evaluated on instead of a text.
#pragma once

#include "sluice/cli/backcopy_start_option.h"
#include "sluice/cli/model_input.h"
#include "sluice/eval/backcopy_score.h"

namespace sluice::cli {

struct TaskOptions {
  std::string task;  // empty: none
  std::optional<std::int64_t> seed, documents;
  BackcopyStartOption start;

  void declare(Options& options);

  // Which options were given that are of texts alone.
  struct TextOptions {
    bool text = false, cutting = false, against = false;
  };

  // Usage error if its options are given without it, or if it is given beside what is of texts.
  void check(const TextOptions& beside) const;

  BackcopyRequest request() const;
};

}  // namespace sluice::cli
