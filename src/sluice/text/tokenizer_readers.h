// The sections of a tokenizer.json, one reader each; read_tokenizer puts them together.
#pragma once

#include <string>
#include <vector>

#include "sluice/text/tokenizer_parts.h"

namespace sluice {

Normalization read_normalizer(const Json& file);
PreTokenizer read_pre_tokenizer(const Json& file);
void check_decoder(const Json& file);

// model.vocab as spellings by id; every id of 0 … n - 1 is there once.
std::vector<std::string> read_vocabulary(const Json& model);

// model.merges; their tokens are all in the vocabulary.
MergeTable read_merges(const Json& model, const Vocabulary& vocabulary);

// Appends tokens that are not in the vocabulary to `spellings`.
std::vector<AddedToken> read_added_tokens(const Json& file, std::vector<std::string>& spellings);

}  // namespace sluice
