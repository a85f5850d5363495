// Types of text that gates are compared on: --samples of generated ones, or --type LABEL=FILE.
#pragma once

#include "sluice/analysis/input_types.h"
#include "sluice/cli/options.h"

namespace sluice::cli {

struct TypeOptions {
  std::optional<std::int64_t> samples, length;
  std::vector<std::string> types;

  void declare(Options& options);

  // Usage error if they contradict each other.
  std::vector<LabelledTexts> texts() const;

  std::vector<std::string> files() const;
};

}  // namespace sluice::cli
