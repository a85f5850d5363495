// Causal scaled-dot-product attention with grouped queries.
#pragma once

#include <optional>
#include <vector>

#include "sluice/ops/sequences.h"
#include "sluice/ops/tape.h"

namespace sluice {

// Figures of each row of probabilities, [N, H], for watching without storing the rows.
struct AttentionFigures {
  Tensor sink;     // probability on the first key
  Tensor entropy;  // in nats
};

struct AttentionOptions {
  int64_t heads = 0;
  int64_t kv_heads = 0;              // divides heads
  std::optional<double> scale = {};  // 1 / sqrt(hd) by default
  int64_t past = 0;  // keys before the first query (a key/value cache); one sequence, no gradient
  std::vector<Tensor>* capture_probs = {};  // if given, filled with one [H, T, past + T] per sequence
  AttentionFigures* capture_figures = {};   // if given, filled
};

struct AttentionInputs {
  Var q;  // [N, H · hd]
  Var k;  // [past + N, K · hd]
  Var v;  // [past + N, K · hd]
};

// y[N, H · hd]; a token attends to itself and to the earlier ones of its own sequence.
Var attention(const Context& context, const AttentionInputs& inputs, const Sequences& sequences,
              const AttentionOptions& options);

}  // namespace sluice
