// The batches of training: every sequence once per epoch, each epoch in another order. Nothing is read ahead
// and nothing remembered but the position, so a run that continues from a saved position sees what it would
// have seen.
#pragma once

#include "sluice/data/packed_sequences.h"

namespace sluice {

// The sequence that comes next: place `index` in the order of the epoch.
struct LoaderPosition {
  int64_t epoch = 0;
  int64_t index = 0;

  bool operator==(const LoaderPosition&) const = default;
};

class BatchLoader {
 public:
  struct Options {
    int64_t batch = 1;  // sequences
    uint64_t seed = 0;  // of the order
  };

  BatchLoader(PackedSequences sequences, const Options& options);

  const PackedSequences& sequences() const { return sequences_; }

  // Always of the size asked for: a batch may end one epoch and begin the next.
  Batch next() { return next(options_.batch); }
  Batch next(int64_t sequences);

  // Leaves out as many sequences: others have them.
  void skip(int64_t sequences);

  LoaderPosition position() const { return position_; }

  // Bad input if there is no such place in an epoch: then the data are not those that it was saved with.
  void seek(LoaderPosition position);

  // Which sequence comes at a position; of the same options and data it is always the same.
  int64_t sequence_at(LoaderPosition position) const;

 private:
  PackedSequences sequences_;
  Options options_;
  LoaderPosition position_;
};

}  // namespace sluice
