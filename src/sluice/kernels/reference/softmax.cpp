#include <algorithm>
#include <cmath>

#include "sluice/kernels/reference/register.h"

namespace sluice::reference {
namespace {

template <class T>
void softmax_forward(const SoftmaxForward<T>& args, Range rows) {
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const T* x = args.x + r * args.width;
    T* y = args.y + r * args.width;
    const T largest = args.width == 0 ? T(0) : *std::max_element(x, x + args.width);
    T sum = 0;
    for (int64_t i = 0; i < args.width; ++i) sum += y[i] = std::exp(x[i] - largest);
    for (int64_t i = 0; i < args.width; ++i) y[i] /= sum;
  }
}

template <class T>
void softmax_backward(const SoftmaxBackward<T>& args, Range rows) {
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const T *y = args.y + r * args.width, *dy = args.dy + r * args.width;
    T* dx = args.dx + r * args.width;
    T mean = 0;
    for (int64_t i = 0; i < args.width; ++i) mean += y[i] * dy[i];
    for (int64_t i = 0; i < args.width; ++i) dx[i] = y[i] * (dy[i] - mean);
  }
}

}  // namespace

template <class T>
void add_softmax(Kernels<T>& table) {
  table.softmax_forward = softmax_forward<T>;
  table.softmax_backward = softmax_backward<T>;
}

template void add_softmax(Kernels<float>&);
template void add_softmax(Kernels<double>&);

}  // namespace sluice::reference
