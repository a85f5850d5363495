// From text to tokens: added tokens, normalisation, words, merges. The inside of Tokenizer::encode.
#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "sluice/text/tokenizer_parts.h"
#include "sluice/text/word_cache.h"

namespace sluice {

class Encoder {
 public:
  explicit Encoder(TokenizerParts parts);

  const TokenizerParts& parts() const { return parts_; }
  std::vector<TokenId> encode(std::string_view text) const;

 private:
  // What one call needs and the next can use again.
  struct Workspace {
    PatternScratch scratch;
    WordCache cache;
    Merger merger;
    std::vector<TokenId> word;
  };
  struct Call {
    Workspace& workspace;
    std::vector<TokenId>& ids;
  };

  void encode_well_formed(std::string_view text, Call call) const;
  void encode_normalized(std::string_view text, Call call) const;
  void encode_word(std::string_view word, Call call) const;
  void merge_word(std::string_view word, Workspace& workspace) const;

  std::unique_ptr<Workspace> take_workspace() const;

  TokenizerParts parts_;
  AddedTokenFinder in_raw_text_, in_normalized_text_;

  // Idle workspaces, at most one per thread that ever encoded at the same time as others.
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Workspace>> idle_;
};

}  // namespace sluice
