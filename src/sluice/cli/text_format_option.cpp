#include "sluice/cli/text_format_option.h"

#include <fmt/format.h>

namespace sluice::cli {

void TextFormatOption::declare(Options& options, const std::string& action) {
  options.choice(
      {.name = "--format",
       .value = "F",
       .text = fmt::format("{}the kind of all texts: text, one document; jsonl, one per line; auto, as their "
                           "names say, and standard input is text (default: auto)",
                           action.empty() ? "" : action + ": "),
       .words = {"auto", "text", "jsonl"}},
      word);
}

std::optional<TextFormat> TextFormatOption::format() const {
  if (word == "jsonl") return TextFormat::JsonLines;
  if (word == "text") return TextFormat::Plain;
  return {};
}

}  // namespace sluice::cli
