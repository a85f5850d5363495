// Rows picked by token id: copies and additions, bounded by memory latency where rows are short and by
// bandwidth where they are long.
#include "sluice/kernels/simd/lanes.h"
#include "sluice/kernels/simd/register.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

void forward(const EmbeddingForward<float>& args, Range tokens) {
  if (args.width == 0) return;
  for (int64_t n = tokens.begin; n < tokens.end; ++n) {
    std::memcpy(args.y + n * args.width, args.table + args.ids[n] * args.width,
                static_cast<size_t>(args.width) * sizeof(float));
  }
}

// One token after the other: the same id may come again in the next one.
void backward(const EmbeddingBackward<float>& args, Range columns) {
  for (int64_t n = 0; n < args.tokens; ++n) {
    float* row = args.dtable + args.ids[n] * args.width;
    const float* dy = args.dy + n * args.width;
    for_each_vector(columns.begin, columns.end, [&](int64_t c, auto part) {
      store(hn::Add(load(row + c, part), load(dy + c, part)), row + c, part);
    });
  }
}

}  // namespace

void add_embedding(Kernels<float>& table) {
  table.embedding_forward = forward;
  table.embedding_backward = backward;
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
