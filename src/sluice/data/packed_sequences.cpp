#include "sluice/data/packed_sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sluice/base/assert.h"
#include "sluice/base/error.h"
#include "sluice/base/random.h"
#include "sluice/data/tokenizer_match.h"

namespace sluice {
namespace {

constexpr uint64_t kSplitStream = 0x53504c49;  // apart from the shuffling of data/batches.cpp

void check_vocabularies(const std::vector<TokenShard>& shards) {
  const TokenShard& first = shards.front();
  for (const TokenShard& each : shards) {
    if (each.info().vocabulary == first.info().vocabulary) continue;
    throw bad_input({.where = each.name(),
                     .what = "another vocabulary than the shard before it",
                     .expected = fmt::format("{}, as {} has", first.info().vocabulary, first.name()),
                     .got = std::to_string(each.info().vocabulary)});
  }
}

int64_t token_count(std::span<const TokenShard> shards) {
  int64_t tokens = 0;
  for (const TokenShard& shard : shards) tokens += shard.info().tokens;
  return tokens;
}

}  // namespace

Split split_of(int64_t document, const SplitOptions& options) {
  const Random random = Random(options.seed).child(kSplitStream);
  return random.uniform(static_cast<uint64_t>(document)) < options.validation_share ? Split::Validation
                                                                                    : Split::Training;
}

SplitRule settled_rule(std::span<const TokenShard> shards, int64_t length, const SplitOptions& options) {
  if (options.rule != SplitRule::Auto) return options.rule;
  if (options.validation_share == 0) return SplitRule::Documents;
  int64_t first = 0, training = 0, validation = 0;
  for (const TokenShard& shard : shards) {
    for (int64_t i = 0; i < shard.info().documents; ++i) {
      const Split split = split_of(first + i, options);
      (split == Split::Training ? training : validation) += shard.document(i).size();
    }
    first += shard.info().documents;
  }
  return training > length && validation > length ? SplitRule::Documents : SplitRule::Position;
}

PackedSequences::PackedSequences(std::vector<TokenShard> shards, const Options& options)
    : shards_(std::move(shards)), length_(options.length) {
  SLUICE_ASSERT(!shards_.empty() && length_ > 0, "PackedSequences: {} shards, length {}", shards_.size(),
                length_);
  check_vocabularies(shards_);
  check_one_tokenizer(shards_);
  const SplitRule rule = settled_rule(shards_, length_, options.kept_out);
  if (rule == SplitRule::Documents) {
    add_documents(options);
  } else {
    add_block(options);
  }
  check(options, rule);
}

void PackedSequences::add_documents(const Options& options) {
  int64_t first = 0;
  for (size_t shard = 0; shard < shards_.size(); ++shard) {
    for (int64_t i = 0; i < shards_[shard].info().documents; ++i) {
      if (split_of(first + i, options.kept_out) != options.split) continue;
      add(shard, shards_[shard].document(i));
      ++documents_;
    }
    first += shards_[shard].info().documents;
  }
}

// Training: what comes before the last share of the tokens, less one sequence, so that no sequence of one
// split goes on in the other.
void PackedSequences::add_block(const Options& options) {
  const int64_t all = token_count(shards_);
  const int64_t begin =
      all - static_cast<int64_t>(options.kept_out.validation_share * static_cast<double>(all));
  const Range block = options.split == Split::Validation ? Range{begin, all}
                                                         : Range{0, std::max<int64_t>(0, begin - length_)};
  int64_t first = 0;
  for (size_t shard = 0; shard < shards_.size(); ++shard) {
    for (int64_t i = 0; i < shards_[shard].info().documents; ++i) {
      const Range document = shards_[shard].document(i);
      const int64_t from = std::max(document.begin, block.begin - first);
      const int64_t to = std::min(document.end, block.end - first);
      if (from >= to) continue;
      add(shard, {from, to});
      ++documents_;
    }
    first += shards_[shard].info().tokens;
  }
}

void PackedSequences::add(size_t shard, Range tokens) {
  const bool goes_on = !runs_.empty() && runs_.back().shard == shard &&
                       runs_.back().token + (tokens_ - runs_.back().begin) == tokens.begin;
  if (!goes_on) runs_.push_back({tokens_, shard, tokens.begin});
  tokens_ += tokens.size();
}

void PackedSequences::check(const Options& options, SplitRule rule) const {
  if (tokens_ > length_) return;
  const bool validation = options.split == Split::Validation;
  const std::string others =
      shards_.size() == 1 ? "" : fmt::format(" and {} other shards", shards_.size() - 1);
  int64_t all_documents = 0;
  for (const TokenShard& shard : shards_) all_documents += shard.info().documents;
  const std::string got = rule == SplitRule::Documents
                              ? fmt::format("{} in {} of {} documents", tokens_, documents_, all_documents)
                              : fmt::format("{} of {} at the {} of the text", tokens_, token_count(shards_),
                                            validation ? "end" : "beginning");
  throw bad_input({.where = shards_.front().name() + others,
                   .what = fmt::format("too little {} data", validation ? "validation" : "training"),
                   .expected = fmt::format("at least {} tokens for a sequence of {}", length_ + 1, length_),
                   .got = got,
                   .hint = validation ? "a larger validation.share, shorter sequences or more text help"
                                      : "shorter sequences or more text help"});
}

void PackedSequences::read(int64_t sequence, std::span<TokenId> out) const {
  SLUICE_ASSERT(sequence >= 0 && sequence < count(), "PackedSequences::read: {} of {}", sequence, count());
  SLUICE_ASSERT(static_cast<int64_t>(out.size()) == length_ + 1, "PackedSequences::read: {} places for {}",
                out.size(), length_ + 1);
  int64_t at = sequence * length_;
  auto run = std::ranges::upper_bound(runs_, at, {}, &Run::begin) - 1;
  while (!out.empty()) {
    const int64_t end = run + 1 == runs_.end() ? tokens_ : (run + 1)->begin;
    const auto here = std::min(out.size(), static_cast<size_t>(end - at));
    shards_[run->shard].read(run->token + (at - run->begin), out.first(here));
    out = out.subspan(here);
    at = end;
    ++run;
  }
}

Batch PackedSequences::batch(std::span<const int64_t> sequences) const {
  Batch batch{
      .sequences = static_cast<int64_t>(sequences.size()), .length = length_, .inputs = {}, .targets = {}};
  std::vector<TokenId> tokens(static_cast<size_t>(length_) + 1);
  batch.inputs.reserve(sequences.size() * static_cast<size_t>(length_));
  batch.targets.reserve(sequences.size() * static_cast<size_t>(length_));
  for (const int64_t sequence : sequences) {
    read(sequence, tokens);
    batch.inputs.insert(batch.inputs.end(), tokens.begin(), tokens.end() - 1);
    batch.targets.insert(batch.targets.end(), tokens.begin() + 1, tokens.end());
  }
  return batch;
}

Batch PackedSequences::batch(Range sequences) const {
  std::vector<int64_t> indices(static_cast<size_t>(sequences.size()));
  std::iota(indices.begin(), indices.end(), sequences.begin);
  return batch(indices);
}

}  // namespace sluice
