// Uses the installed library the way another project would: gated attention of one sequence, and its
// gradient.
#include <cstdio>

#include "sluice/base/random.h"
#include "sluice/ops/arithmetic.h"
#include "sluice/ops/attention.h"
#include "sluice/ops/gate.h"

int main() {
  constexpr int64_t kTokens = 8, kHeads = 2, kWidth = 16;
  sluice::Engine engine;
  sluice::Tape tape;
  const sluice::Context context{engine, &tape};
  const auto leaf = [&](uint64_t stream) {
    const sluice::Tensor tensor = context.empty({kTokens, kWidth}, sluice::DType::F32);
    sluice::Random(1, stream).fill_normal(tensor.values<float>(), 0, 0.0F, 1.0F);
    return tape.leaf(tensor);
  };
  const sluice::Var q = leaf(0), k = leaf(1), v = leaf(2), scores = leaf(3);

  const auto sequences = sluice::Sequences::equal(1, kTokens);
  const sluice::Var attended =
      sluice::attention(context, {q, k, v}, sequences, {.heads = kHeads, .kv_heads = kHeads});
  const sluice::Var gated = sluice::gate(context, attended, scores, kHeads, {});
  tape.backward(context, sluice::mean(context, gated));

  double change = 0;
  for (const float g : tape.gradient(scores).values<float>()) change += g * g;
  std::printf("squared gradient of the gate's scores: %g\n", change);
  return change > 0 ? 0 : 1;
}
