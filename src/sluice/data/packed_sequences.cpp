#include "sluice/data/packed_sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sluice/base/assert.h"
#include "sluice/base/error.h"
#include "sluice/base/random.h"

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

}  // namespace

Split split_of(int64_t document, const SplitOptions& options) {
  const Random random = Random(options.seed).child(kSplitStream);
  return random.uniform(static_cast<uint64_t>(document)) < options.validation_share ? Split::Validation
                                                                                    : Split::Training;
}

PackedSequences::PackedSequences(std::vector<TokenShard> shards, const Options& options)
    : shards_(std::move(shards)), length_(options.length) {
  SLUICE_ASSERT(!shards_.empty() && length_ > 0, "PackedSequences: {} shards, length {}", shards_.size(),
                length_);
  check_vocabularies(shards_);
  int64_t all_documents = 0;
  for (size_t i = 0; i < shards_.size(); ++i) {
    add_documents(i, all_documents, options);
    all_documents += shards_[i].info().documents;
  }
  check(options, all_documents);
}

void PackedSequences::add_documents(size_t shard, int64_t first_document, const Options& options) {
  int64_t next = -1;  // the token behind the last document of the split; -1: none in this shard yet
  for (int64_t i = 0; i < shards_[shard].info().documents; ++i) {
    if (split_of(first_document + i, options.documents) != options.split) continue;
    const Range document = shards_[shard].document(i);
    if (document.begin != next) runs_.push_back({tokens_, shard, document.begin});
    next = document.end;
    tokens_ += document.size();
    ++documents_;
  }
}

void PackedSequences::check(const Options& options, int64_t all_documents) const {
  if (tokens_ > length_) return;
  const bool validation = options.split == Split::Validation;
  const std::string others =
      shards_.size() == 1 ? "" : fmt::format(" and {} other shards", shards_.size() - 1);
  throw bad_input({.where = shards_.front().name() + others,
                   .what = fmt::format("too little {} data", validation ? "validation" : "training"),
                   .expected = fmt::format("at least {} tokens for a sequence of {}", length_ + 1, length_),
                   .got = fmt::format("{} in {} of {} documents", tokens_, documents_, all_documents),
                   .hint = validation ? "more documents or a larger share help; the split is by document"
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
