// What text a command measures a model on: --data, --format, --ids-file or --held-out.
#pragma once

#include <string>
#include <vector>

#include "sluice/cli/options.h"
#include "sluice/cli/text_format_option.h"
#include "sluice/eval/text_source.h"

namespace sluice::cli {

struct TextOptions {
  std::vector<std::string> data;
  std::string ids_file;
  TextFormatOption format;
  bool held_out = false;

  void declare(Options& options);

  bool is_given() const { return !data.empty() || !ids_file.empty() || held_out; }

  // Usage error, of this command, if not exactly one of them is given.
  TextSource source(const std::string& command) const;
};

}  // namespace sluice::cli
