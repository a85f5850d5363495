// Causal scaled-dot-product attention with grouped queries.
#pragma once

#include <optional>
#include <vector>

#include "sluice/kernels/gate.h"
#include "sluice/ops/sequences.h"
#include "sluice/ops/tape.h"

namespace sluice {

struct AttentionOptions {
  int64_t heads = 0;
  int64_t kv_heads = 0;              // divides heads
  std::optional<double> scale = {};  // 1 / sqrt(hd) by default
  int64_t past = 0;  // keys before the first query (a key/value cache); one sequence, no gradient
  // A gate on the result, with scores among the inputs that heads do not share: it costs no pass of its own,
  // and without a tape the result before it is not stored.
  std::optional<GateForm> gate = {};
  // Of the weights around. If this or the context says bf16, operands are rounded to it where that is faster.
  Precision weights = Precision::F32;
  std::vector<Tensor>* capture_probs = {};  // if given, filled with one [H, T, past + T] per sequence
  // Figures of each row of probabilities [N, H], without storing the rows; filled if given.
  Tensor* capture_sink = {};     // the probability on the first key
  Tensor* capture_entropy = {};  // in nats
};

struct AttentionInputs {
  Var q;                 // [N, H · hd]
  Var k;                 // [past + N, K · hd]
  Var v;                 // [past + N, K · hd]
  Var gate_scores = {};  // [N, H · hd], or [N, H] if head-wise
};

// Whether attention on this engine rounds its operands to bf16 when it may.
bool rounds_attention(const Engine& engine);

// y[N, H · hd]; a token attends to itself and to the earlier ones of its own sequence.
Var attention(const Context& context, const AttentionInputs& inputs, const Sequences& sequences,
              const AttentionOptions& options);

}  // namespace sluice
