// The tokens of a tokenizer.json; read_tokenizer() reads the rest and puts all together.
#pragma once

#include <string>
#include <vector>

#include "sluice/text/tokenizer_parts.h"

namespace sluice {

// model.vocab as spellings by id; every id of 0 … n - 1 is there once.
std::vector<std::string> read_vocabulary(const Json& model);

// model.merges; their tokens are all in the vocabulary.
MergeTable read_merges(const Json& model, const Vocabulary& vocabulary);

// Appends tokens that are not in the vocabulary to `spellings`.
std::vector<AddedToken> read_added_tokens(const Json& file, std::vector<std::string>& spellings);

}  // namespace sluice
