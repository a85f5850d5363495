#include "sluice/data/tokenizer_match.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/error.h"
#include "sluice/text/tokenizer.h"

namespace sluice {
namespace {

bool says_no_tokenizer(const TokenShard& shard) {
  return shard.info().tokenizer == 0;
}

}  // namespace

void check_made_by(std::span<const TokenShard> shards, uint32_t fingerprint, const std::string& owner) {
  if (fingerprint == 0) return;
  for (const TokenShard& shard : shards) {
    if (says_no_tokenizer(shard) || shard.info().tokenizer == fingerprint) continue;
    throw bad_input(
        {.where = shard.name(),
         .what = "made by another tokenizer",
         .expected = fmt::format("fingerprint {}, as {} has", fingerprint_text(fingerprint), owner),
         .got = fingerprint_text(shard.info().tokenizer),
         .hint = "sluice data tokenize makes a shard with the right one"});
  }
}

void check_one_tokenizer(std::span<const TokenShard> shards) {
  const auto first = std::ranges::find_if_not(shards, says_no_tokenizer);
  if (first != shards.end()) check_made_by(shards, first->info().tokenizer, first->name());
}

void check_fits(std::span<const TokenShard> shards, int64_t vocabulary) {
  for (const TokenShard& shard : shards) {
    if (shard.info().vocabulary <= vocabulary) continue;
    throw bad_input({.where = shard.name(),
                     .what = "its tokens do not fit the model",
                     .expected = fmt::format("a vocabulary of at most {}", vocabulary),
                     .got = std::to_string(shard.info().vocabulary)});
  }
}

void warn_of_unknown_tokenizer(std::span<const TokenShard> shards, const JobControl& control) {
  const auto unknown = std::ranges::count_if(shards, says_no_tokenizer);
  if (unknown == 0) return;
  const auto first = std::ranges::find_if(shards, says_no_tokenizer);
  const std::string others = unknown == 1 ? "" : fmt::format(" and {} more", unknown - 1);
  control.warn("{}{}: made before shards said by which tokenizer; that it is the right one is not checked",
               first->name(), others);
}

}  // namespace sluice
