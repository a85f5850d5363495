#include "sluice/text/pre_tokenizer.h"

namespace sluice {

const char* text_of(WordPattern pattern) {
  if (pattern == WordPattern::Gpt2) {
    return R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
  }
  return R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
         R"(\s*[\r\n]+|\s+(?!\S)|\s+)";
}

}  // namespace sluice
