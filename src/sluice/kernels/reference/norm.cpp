#include <algorithm>
#include <cmath>
#include <limits>

#include "sluice/kernels/reference/register.h"

namespace sluice::reference {
namespace {

// NaN if the squares overflow: 1 / inf would make zeros of finite numbers, and they would pass for a result.
template <class T>
T inverse_rms(const T* x, int64_t width, T eps) {
  T squares = 0;
  for (int64_t i = 0; i < width; ++i) squares += x[i] * x[i];
  if (!std::isfinite(squares)) return std::numeric_limits<T>::quiet_NaN();
  return 1 / std::sqrt(squares / static_cast<T>(width) + eps);
}

// With x̂ = x · r and g = dy · weight:  dx = r · (g - x̂ · mean(g · x̂)),  dweight += dy · x̂.
template <class T>
struct NormRow {
  const T* x;
  NormWeight<T> weight;
  T inverse_rms;
  int64_t width;
};

template <class T>
void norm_row_backward(const NormRow<T>& row, const T* dy, T* dx, T* dweight) {
  T mean = 0;
  for (int64_t i = 0; i < row.width; ++i) {
    const T normed = row.x[i] * row.inverse_rms;
    mean += dy[i] * (row.weight.offset + row.weight.w[i]) * normed;
    dweight[i] += dy[i] * normed;
  }
  mean /= static_cast<T>(row.width);
  for (int64_t i = 0; i < row.width; ++i) {
    const T g = dy[i] * (row.weight.offset + row.weight.w[i]);
    dx[i] = row.inverse_rms * (g - row.x[i] * row.inverse_rms * mean);
  }
}

template <class T>
void rms_norm_forward(const RmsNormForward<T>& args, Range rows) {
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const T* x = args.x + r * args.width;
    T* y = args.y + r * args.width;
    const T inverse = inverse_rms(x, args.width, args.eps);
    args.inverse_rms[r] = inverse;
    for (int64_t i = 0; i < args.width; ++i) y[i] = x[i] * inverse * (args.weight.offset + args.weight.w[i]);
  }
}

template <class T>
void rms_norm_backward(const RmsNormBackward<T>& args, Range blocks) {
  for (int64_t block = blocks.begin; block < blocks.end; ++block) {
    T* dweight = args.dweight_blocks + block * args.width;
    std::fill(dweight, dweight + args.width, T(0));
    const int64_t end = std::min(args.rows, (block + 1) * kNormBlock);
    for (int64_t r = block * kNormBlock; r < end; ++r) {
      const int64_t at = r * args.width;
      norm_row_backward<T>({args.x + at, args.weight, args.inverse_rms[r], args.width}, args.dy + at,
                           args.dx + at, dweight);
    }
  }
}

enum class Turn { Forward, Back };

// Rotates the pairs (c, c + rotary/2) of one head in place. The gradient of a rotation is the rotation back.
template <class T>
void rotate(const Rotation<T>& rotation, int64_t token, Turn turn, T* head) {
  const int64_t half = rotation.rotary / 2;
  const T* cos = rotation.cos + rotation.positions[token] * half;
  const T* sin = rotation.sin + rotation.positions[token] * half;
  for (int64_t c = 0; c < half; ++c) {
    const T s = turn == Turn::Forward ? sin[c] : -sin[c];
    const T low = head[c];
    const T high = head[c + half];
    head[c] = low * cos[c] - high * s;
    head[c + half] = high * cos[c] + low * s;
  }
}

template <class T>
void norm_rope_forward(const NormRopeForward<T>& args, Range tokens) {
  for (int64_t n = tokens.begin; n < tokens.end; ++n) {
    for (int64_t h = 0; h < args.heads; ++h) {
      const int64_t row = n * args.heads + h;
      const T* x = args.x + row * args.head_dim;
      T* y = args.y + row * args.head_dim;
      std::copy(x, x + args.head_dim, y);
      if (args.weight.w != nullptr) {
        const T inverse = inverse_rms(x, args.head_dim, args.eps);
        args.inverse_rms[row] = inverse;
        for (int64_t i = 0; i < args.head_dim; ++i) y[i] *= inverse * (args.weight.offset + args.weight.w[i]);
      }
      rotate(args.rotation, n, Turn::Forward, y);
    }
  }
}

// Turns dy back into dx, then runs the norm's gradient on it in place.
template <class T>
void norm_rope_backward(const NormRopeBackward<T>& args, Range blocks) {
  for (int64_t block = blocks.begin; block < blocks.end; ++block) {
    const bool norm = args.weight.w != nullptr;
    T* dweight = norm ? args.dweight_blocks + block * args.head_dim : nullptr;
    if (norm) std::fill(dweight, dweight + args.head_dim, T(0));
    const int64_t end = std::min(args.tokens, (block + 1) * kNormBlock);
    for (int64_t row = block * kNormBlock * args.heads; row < end * args.heads; ++row) {
      const int64_t at = row * args.head_dim;
      T* dx = args.dx + at;
      std::copy(args.dy + at, args.dy + at + args.head_dim, dx);
      rotate(args.rotation, row / args.heads, Turn::Back, dx);
      if (norm) {
        norm_row_backward<T>({args.x + at, args.weight, args.inverse_rms[row], args.head_dim}, dx, dx,
                             dweight);
      }
    }
  }
}

}  // namespace

template <class T>
void add_norm(Kernels<T>& table) {
  table.rms_norm_forward = rms_norm_forward<T>;
  table.rms_norm_backward = rms_norm_backward<T>;
  table.norm_rope_forward = norm_rope_forward<T>;
  table.norm_rope_backward = norm_rope_backward<T>;
}

template void add_norm(Kernels<float>&);
template void add_norm(Kernels<double>&);

}  // namespace sluice::reference
