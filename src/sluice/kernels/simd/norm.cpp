// RMSNorm, and the fused per-head norm + rotary embedding. Bounded by memory bandwidth: a row is read from
// memory once and stays in the L1 cache for its second pass.
#include <math.h>  // not cmath: std::sqrt(float) is inline, see register.h

#include "sluice/kernels/simd/lanes.h"
#include "sluice/kernels/simd/register.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

// NaN if the squares overflow: 1 / inf would make zeros of finite numbers, and they would pass for a result.
float inverse_rms(const float* x, int64_t width, float eps) {
  const float squares = dot(x, x, width);
  if (!(squares <= __FLT_MAX__)) return __builtin_nanf("");
  return 1.0F / sqrtf(squares / static_cast<float>(width) + eps);
}

// The weight as it is applied: offset + w.
struct Weight {
  const float* w;
  Vector offset;

  template <class Part>
  HWY_INLINE Vector at(int64_t i, Part part) const {
    return hn::Add(offset, load(w + i, part));
  }
};

Weight applied(const NormWeight<float>& weight) {
  return {weight.w, set(weight.offset)};
}

void rms_norm_forward(const RmsNormForward<float>& args, Range rows) {
  const Weight weight = applied(args.weight);
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const float* x = args.x + r * args.width;
    float* y = args.y + r * args.width;
    args.inverse_rms[r] = inverse_rms(x, args.width, args.eps);
    const Vector inverse = set(args.inverse_rms[r]);
    for_each_vector(0, args.width, [&](int64_t i, auto part) {
      store(hn::Mul(hn::Mul(load(x + i, part), inverse), weight.at(i, part)), y + i, part);
    });
  }
}

struct NormRow {
  const float* x;
  Weight weight;
  float inverse_rms;
  int64_t width;
};

// With x̂ = x · r and g = dy · weight:  dx = r · (g - x̂ · mean(g · x̂)),  dweight += dy · x̂. dx may be dy.
void norm_row_backward(const NormRow& row, const float* dy, float* dx, float* dweight) {
  const Vector inverse = set(row.inverse_rms);
  const float total = sum(row.width, [&](int64_t i, auto part, Vector running) {
    const Vector gradient = load(dy + i, part);
    const Vector normed = hn::Mul(load(row.x + i, part), inverse);
    store(hn::MulAdd(gradient, normed, load(dweight + i, part)), dweight + i, part);
    return hn::MulAdd(hn::Mul(gradient, row.weight.at(i, part)), normed, running);
  });
  const Vector shift = set(total / static_cast<float>(row.width) * row.inverse_rms);
  for_each_vector(0, row.width, [&](int64_t i, auto part) {
    const Vector g = hn::Mul(load(dy + i, part), row.weight.at(i, part));
    store(hn::Mul(inverse, hn::NegMulAdd(load(row.x + i, part), shift, g)), dx + i, part);
  });
}

void rms_norm_backward(const RmsNormBackward<float>& args, Range blocks) {
  const Weight weight = applied(args.weight);
  for (int64_t block = blocks.begin; block < blocks.end; ++block) {
    float* dweight = args.dweight_blocks + block * args.width;
    clear(dweight, args.width);
    const int64_t end = (block + 1) * kNormBlock;
    for (int64_t r = block * kNormBlock; r < (end < args.rows ? end : args.rows); ++r) {
      const int64_t at = r * args.width;
      norm_row_backward({args.x + at, weight, args.inverse_rms[r], args.width}, args.dy + at, args.dx + at,
                        dweight);
    }
  }
}

// Tables of one token's position.
struct Angles {
  const float* cos;
  const float* sin;
  int64_t half;
};

Angles angles_of(const Rotation<float>& rotation, int64_t token) {
  const int64_t half = rotation.rotary / 2;
  if (half == 0) return {nullptr, nullptr, 0};
  const int64_t at = rotation.positions[token] * half;
  return {rotation.cos + at, rotation.sin + at, half};
}

enum class Turn { Forward, Back };

// y = rotated value; value(c, part) gives channels c … of the head. The gradient of a rotation is the
// rotation back. A channel is read only before it is written, so the values may lie in y.
template <Turn turn, class Value>
HWY_INLINE void rotate(const Angles& angles, int64_t head_dim, float* y, const Value& value) {
  const int64_t half = angles.half;
  for_each_vector(0, half, [&](int64_t c, auto part) {
    const Vector cos = load(angles.cos + c, part);
    const Vector sin = load(angles.sin + c, part);
    const Vector s = turn == Turn::Forward ? sin : hn::Sub(hn::Zero(tag), sin);
    const Vector low = value(c, part);
    const Vector high = value(c + half, part);
    store(hn::NegMulAdd(high, s, hn::Mul(low, cos)), y + c, part);
    store(hn::MulAdd(low, s, hn::Mul(high, cos)), y + c + half, part);
  });
  for_each_vector(2 * half, head_dim, [&](int64_t c, auto part) { store(value(c, part), y + c, part); });
}

void norm_rope_forward(const NormRopeForward<float>& args, Range tokens) {
  const Weight weight = applied(args.weight);
  for (int64_t n = tokens.begin; n < tokens.end; ++n) {
    const Angles angles = angles_of(args.rotation, n);
    for (int64_t row = n * args.heads; row < (n + 1) * args.heads; ++row) {
      const float* x = args.x + row * args.head_dim;
      float* y = args.y + row * args.head_dim;
      if (args.weight.w == nullptr) {
        rotate<Turn::Forward>(angles, args.head_dim, y,
                              [&](int64_t c, auto part) { return load(x + c, part); });
        continue;
      }
      args.inverse_rms[row] = inverse_rms(x, args.head_dim, args.eps);
      const Vector inverse = set(args.inverse_rms[row]);
      rotate<Turn::Forward>(angles, args.head_dim, y, [&](int64_t c, auto part) {
        return hn::Mul(hn::Mul(load(x + c, part), inverse), weight.at(c, part));
      });
    }
  }
}

// Turns dy back into dx, then runs the norm's gradient on it in place.
void norm_rope_backward(const NormRopeBackward<float>& args, Range blocks) {
  const bool norm = args.weight.w != nullptr;
  const Weight weight = applied(args.weight);
  for (int64_t block = blocks.begin; block < blocks.end; ++block) {
    float* dweight = norm ? args.dweight_blocks + block * args.head_dim : nullptr;
    if (norm) clear(dweight, args.head_dim);
    const int64_t end = (block + 1) * kNormBlock;
    for (int64_t n = block * kNormBlock; n < (end < args.tokens ? end : args.tokens); ++n) {
      const Angles angles = angles_of(args.rotation, n);
      for (int64_t row = n * args.heads; row < (n + 1) * args.heads; ++row) {
        const int64_t at = row * args.head_dim;
        const float* dy = args.dy + at;
        float* dx = args.dx + at;
        rotate<Turn::Back>(angles, args.head_dim, dx,
                           [&](int64_t c, auto part) { return load(dy + c, part); });
        if (norm) {
          norm_row_backward({args.x + at, weight, args.inverse_rms[row], args.head_dim}, dx, dx, dweight);
        }
      }
    }
  }
}

}  // namespace

void add_norm(Kernels<float>& table) {
  table.rms_norm_forward = rms_norm_forward;
  table.rms_norm_backward = rms_norm_backward;
  table.norm_rope_forward = norm_rope_forward;
  table.norm_rope_backward = norm_rope_backward;
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
