// From the last hidden states of several runs of one chunk to what they predict, beside the unbroken model: a
// few rows of logits at a time, each row of the unbroken model once for all of them.
#pragma once

#include <span>
#include <vector>

#include "sluice/ablate/run_measures.h"
#include "sluice/model/decoder.h"

namespace sluice {

struct ReadRun {
  Tensor hidden;              // [T, D], behind the final norm
  Probe* probe = nullptr;     // that changes logits; null: nobody does. It gets those of all tokens at once.
  RunMeasures measures = {};  // nll, kl and changed_top1 are filled in
};

enum class UnbrokenComparison { Left, Measured };

struct ReadoutRequest {
  const Decoder& decoder;
  const Chunk& chunk;
  ReadRun& base;
  bool base_nll = true;  // whether its nll is filled in as well
  std::span<ReadRun> runs;
  UnbrokenComparison divergence = UnbrokenComparison::Measured;
};

void read_out(const Context& context, const ReadoutRequest& request);

}  // namespace sluice
