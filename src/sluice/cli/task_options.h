// --task: what a model is evaluated on instead of a text.
#pragma once

#include "sluice/cli/model_input.h"
#include "sluice/eval/backcopy_score.h"

namespace sluice::cli {

struct TaskOptions {
  std::string task;  // empty: none
  std::optional<std::int64_t> seed, documents;

  void declare(Options& options);

  // Usage error if its options are given without it, or if it is given beside a text.
  void check(bool has_text) const;

  BackcopyRequest request() const;
};

}  // namespace sluice::cli
