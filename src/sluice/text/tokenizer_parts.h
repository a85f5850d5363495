// What a tokenizer.json says, checked. Tokenizer is made of it.
#pragma once

#include <cstdint>
#include <vector>

#include "sluice/base/json.h"
#include "sluice/text/added_tokens.h"
#include "sluice/text/merges.h"
#include "sluice/text/pre_tokenizer.h"
#include "sluice/text/vocabulary.h"

namespace sluice {

enum class Normalization { None, Nfc };

struct TokenizerParts {
  Vocabulary vocabulary;   // those of the model, then added tokens that it does not have
  TokenId model_size = 0;  // how many are the model's
  MergeTable merges;
  bool ignore_merges = false;  // a word that is a token is that token, whatever the merges
  Normalization normalization = Normalization::None;
  PreTokenizer pre_tokenizer;
  std::vector<AddedToken> added;
};

// What Tokenizer::fingerprint() gives.
uint32_t fingerprint_of(const TokenizerParts& parts);

// Bad input for whatever is wrong in the file or would be computed differently here than in the reference.
TokenizerParts read_tokenizer(const Json& json);

}  // namespace sluice
