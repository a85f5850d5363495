// Whether token shards and a model speak of the same tokens: by the size of their vocabularies and by the
// fingerprint of the tokenizer that each carries (Tokenizer::fingerprint).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sluice/base/job_control.h"
#include "sluice/data/token_shard.h"

namespace sluice {

// Bad input, with both fingerprints, if a shard was made by another tokenizer than `fingerprint`, which
// `owner` has. 0 on either side is not known, and passes.
void check_made_by(std::span<const TokenShard> shards, uint32_t fingerprint, const std::string& owner);

// The same of the shards among each other.
void check_one_tokenizer(std::span<const TokenShard> shards);

// Bad input if a shard has ids that a model of so many tokens does not have.
void check_fits(std::span<const TokenShard> shards, int64_t vocabulary);

// One warning, however many there are, if shards do not say which tokenizer made them.
void warn_of_unknown_tokenizer(std::span<const TokenShard> shards, const JobControl& control);

}  // namespace sluice
