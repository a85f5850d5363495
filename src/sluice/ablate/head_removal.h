// Removing heads for good. A head whose values and whose columns of the output projection are zero adds
// nothing and gets no gradient, so training on leaves it away.
#pragma once

#include <filesystem>
#include <vector>

#include "sluice/ablate/head_place.h"
#include "sluice/data/packed_sequences.h"
#include "sluice/model/decoder.h"
#include "sluice/train/run_config.h"

namespace sluice {

// Bad input if query heads share key/value heads: those cannot be taken away one by one.
void remove_heads(Decoder& decoder, const std::vector<HeadPlace>& heads);

// What a model trains on after its run: as the run did, with a constant rate and an optimiser that begins
// anew.
struct TrainingOn {
  RunConfig config;
  PackedSequences sequences;
  int64_t steps = 0;
  double rate = 0;
};
void train_on(Engine& engine, Decoder& decoder, const TrainingOn& training);

}  // namespace sluice
