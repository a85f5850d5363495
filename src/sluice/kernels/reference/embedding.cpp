#include <algorithm>

#include "sluice/kernels/reference/register.h"

namespace sluice::reference {
namespace {

template <class T>
void forward(const EmbeddingForward<T>& args, Range tokens) {
  for (int64_t n = tokens.begin; n < tokens.end; ++n) {
    const T* row = args.table + args.ids[n] * args.width;
    std::copy(row, row + args.width, args.y + n * args.width);
  }
}

template <class T>
void backward(const EmbeddingBackward<T>& args, Range columns) {
  for (int64_t n = 0; n < args.tokens; ++n) {
    T* row = args.dtable + args.ids[n] * args.width;
    const T* dy = args.dy + n * args.width;
    for (int64_t col = columns.begin; col < columns.end; ++col) row[col] += dy[col];
  }
}

}  // namespace

template <class T>
void add_embedding(Kernels<T>& table) {
  table.embedding_forward = forward<T>;
  table.embedding_backward = backward<T>;
}

template void add_embedding(Kernels<float>&);
template void add_embedding(Kernels<double>&);

}  // namespace sluice::reference
