// What `sluice data` is asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/cli/backcopy_start_option.h"
#include "sluice/cli/options.h"
#include "sluice/cli/text_format_option.h"
#include "sluice/data/synth.h"

namespace sluice::cli {

struct DataOptions {
  std::string action;
  std::vector<std::string> files, kinds;
  std::optional<std::string> out, end_of_text;
  TextFormatOption format;
  std::optional<std::int64_t> bytes, documents, seed, letters, pieces;
  BackcopyStartOption start;

  bool is_backcopy() const { return kinds == std::vector<std::string>{"backcopy"}; }
  std::vector<TextKind> text_kinds() const;  // none: all
};

void declare(Options& options, DataOptions& target);

// Usage error for what the action does not take, and for what it lacks.
void check(const DataOptions& options);

}  // namespace sluice::cli
