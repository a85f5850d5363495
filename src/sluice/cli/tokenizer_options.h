// What `sluice tokenizer` is asked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/cli/options.h"
#include "sluice/cli/text_format_option.h"
#include "sluice/text/tokenizer.h"

namespace sluice::cli {

struct TokenizerOptions {
  std::string action;
  std::vector<std::string> files;
  std::optional<std::string> text, ids, jsonl, out;
  TextFormatOption format;
  bool skip_special = false;
  int vocabulary = 0;
  std::string pattern = "qwen";
  std::vector<std::string> special;
  bool no_end_of_text = false;

  SpecialTokens special_tokens() const { return skip_special ? SpecialTokens::Skip : SpecialTokens::Keep; }
};

void declare(Options& options, TokenizerOptions& target);

// Usage error for what the action does not take, and for what it lacks.
void check(const TokenizerOptions& options);

}  // namespace sluice::cli
