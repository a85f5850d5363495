#include "sluice/data/batches.h"

#include <fmt/format.h>

#include "sluice/base/assert.h"
#include "sluice/base/error.h"
#include "sluice/base/permutation.h"

namespace sluice {
namespace {

constexpr uint64_t kShuffleStream = 0x53485546;  // apart from the split of data/packed_sequences.cpp

}  // namespace

BatchLoader::BatchLoader(PackedSequences sequences, const Options& options)
    : sequences_(std::move(sequences)), options_(options) {
  SLUICE_ASSERT(options.batch > 0, "BatchLoader: batch of {}", options.batch);
}

Batch BatchLoader::next(int64_t sequences) {
  LoaderPosition at = position_;
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < sequences; ++i) {
    indices.push_back(sequence_at(at));
    if (++at.index == sequences_.count()) at = {.epoch = at.epoch + 1, .index = 0};
  }
  Batch batch = sequences_.batch(indices);
  position_ = at;
  return batch;
}

void BatchLoader::skip(int64_t sequences) {
  const int64_t index = position_.index + sequences;
  position_ = {.epoch = position_.epoch + index / sequences_.count(), .index = index % sequences_.count()};
}

void BatchLoader::seek(LoaderPosition position) {
  if (position.epoch < 0 || position.index < 0 || position.index >= sequences_.count()) {
    throw bad_input({.where = "position in the training data",
                     .expected = fmt::format("sequence 0 to {} of an epoch", sequences_.count() - 1),
                     .got = fmt::format("{} of epoch {}", position.index, position.epoch),
                     .hint = "are these the data that the run began with?"});
  }
  position_ = position;
}

int64_t BatchLoader::sequence_at(LoaderPosition position) const {
  const Random key = Random(options_.seed).child(kShuffleStream).child(static_cast<uint64_t>(position.epoch));
  const Permutation order(static_cast<uint64_t>(sequences_.count()), key);
  return static_cast<int64_t>(order(static_cast<uint64_t>(position.index)));
}

}  // namespace sluice
