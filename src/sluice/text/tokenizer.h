// Byte-level BPE tokenizers (GPT-2, Llama 3, Qwen) from a tokenizer.json, and the byte tokenizer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/json.h"
#include "sluice/text/vocabulary.h"

namespace sluice {

struct TokenizerParts;

enum class SpecialTokens { Keep, Skip };

// Immutable and cheap to copy; may be used from several threads at once.
class Tokenizer {
 public:
  explicit Tokenizer(TokenizerParts parts);
  static Tokenizer read(const Json& json);

  // A tokenizer.json, or a directory that has one: bad input if it has none.
  static Tokenizer load(const std::filesystem::path& path);

  // As a person names it: "bytes" (a file of that name is "./bytes"), or what load() takes.
  static Tokenizer named(const std::string& name);

  // 256 tokens; the id is the byte.
  static Tokenizer bytes();

  // No special tokens are added; those in the text are recognised. Any bytes are fine: those that are not
  // UTF-8 become the tokens of their bytes, each stretch of them a word of its own, and none is lost.
  std::vector<TokenId> encode(std::string_view text) const;

  // The bytes of the tokens. Single tokens may end inside a character: see StreamingDecoder.
  // Bad input for ids that there are none of.
  std::string decode(std::span<const TokenId> ids, SpecialTokens special = SpecialTokens::Keep) const;

  TokenId size() const;  // ids are 0 … size() - 1
  std::optional<TokenId> token_to_id(std::string_view spelling) const;

  // As the file spells it: "Ġthe" and not " the".
  const std::string& id_to_token(TokenId id) const;
  bool is_special(TokenId id) const;
  std::vector<TokenId> special_ids() const;  // ascending

  // Of all that decides which ids a text gets: two files that say the same in other words have the same one.
  // Never 0. It tells mistakes, not forgeries.
  uint32_t fingerprint() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

// As messages and files have it: eight hexadecimal digits.
std::string fingerprint_text(uint32_t fingerprint);

}  // namespace sluice
