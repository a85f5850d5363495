// --format, for commands that read texts whose names need not say what they are.
#pragma once

#include <optional>
#include <string>

#include "sluice/cli/options.h"
#include "sluice/text/text_format.h"

namespace sluice::cli {

struct TextFormatOption {
  std::string word = {};  // empty: not given

  // `action` is the one of the command's actions that takes it, if it has several.
  void declare(Options& options, const std::string& action = "");

  // None: as each file's name says.
  std::optional<TextFormat> format() const;
};

}  // namespace sluice::cli
