// Vectors of f32, and loops over arrays whose last vector is partial. A partial vector runs through the same
// code as a full one, so a result does not depend on where a range was cut.
#pragma once

// -march=haswell does not promise AES; without this Highway would take that for a CPU with 128-bit vectors
// only.
#define HWY_DISABLE_PCLMUL_AES
#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

namespace sluice::SLUICE_SIMD_NAMESPACE {
// Unnamed although in a header: see register.h on linkage.
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;
constexpr Tag tag{};
constexpr int64_t kLanes = sizeof(Vector) / sizeof(float);

#if defined(__AVX512F__)
static_assert(kLanes == 16, "Highway does not see AVX-512");
#elif defined(__AVX2__)
static_assert(kLanes == 8, "Highway does not see AVX2");
#endif

// How much of a vector a step covers: a type each, so that a generic step compiles to one loop without masks
// and one masked end.
struct Full {};
struct Tail {
  int64_t lanes;
};

// Not hn::FirstN, and elsewhere not hn::Lt, hn::Gt, hn::Abs, hn::Neg: built without optimisation, they leave
// inline functions of namespace hwy behind that all instruction sets would share.
alignas(64) constexpr float kLaneNumbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

HWY_INLINE Vector set(float value) {
  return hn::Set(tag, value);
}

HWY_INLINE auto mask_of(Tail tail) {
  return hn::Le(hn::Load(tag, kLaneNumbers), set(static_cast<float>(tail.lanes)));
}

HWY_INLINE Vector load(const float* p, Full) {
  return hn::LoadU(tag, p);
}

// Zero behind the end; nothing is read there.
HWY_INLINE Vector load(const float* p, Tail tail) {
  return hn::MaskedLoad(mask_of(tail), tag, p);
}

HWY_INLINE void store(Vector v, float* p, Full) {
  hn::StoreU(v, tag, p);
}

HWY_INLINE void store(Vector v, float* p, Tail tail) {
  alignas(sizeof(Vector)) float lanes[kLanes];
  hn::Store(v, tag, lanes);
  std::memcpy(p, lanes, static_cast<size_t>(tail.lanes) * sizeof(float));
}

// Replaces the lanes behind the end, for sums and maxima of values that are not zero there by themselves.
HWY_INLINE Vector pad(Vector v, float /*value*/, Full) {
  return v;
}

HWY_INLINE Vector pad(Vector v, float value, Tail tail) {
  return hn::IfThenElse(mask_of(tail), v, set(value));
}

HWY_INLINE void clear(float* x, int64_t n) {
  if (n > 0) std::memset(x, 0, static_cast<size_t>(n) * sizeof(float));
}

HWY_INLINE float sum_of_lanes(Vector v) {
  return hn::GetLane(hn::SumOfLanes(tag, v));
}

// Calls step(i, Full) for each whole vector from `begin` on, then step(i, Tail) for what is left.
template <class Step>
HWY_INLINE void for_each_vector(int64_t begin, int64_t end, const Step& step) {
  int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) step(i, Full{});
  if (i < end) step(i, Tail{end - i});
}

// Folds n elements with result = step(i, part, result). Four results run side by side, as many as the latency
// of an addition; combine(a, b) joins them.
template <class Step, class Combine>
HWY_INLINE Vector fold(int64_t n, Vector start, const Step& step, const Combine& combine) {
  Vector a = start;
  Vector b = start;
  Vector c = start;
  Vector d = start;
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    a = step(i, Full{}, a);
    b = step(i + kLanes, Full{}, b);
    c = step(i + 2 * kLanes, Full{}, c);
    d = step(i + 3 * kLanes, Full{}, d);
  }
  for (; i + kLanes <= n; i += kLanes) a = step(i, Full{}, a);
  if (i < n) b = step(i, Tail{n - i}, b);
  return combine(combine(a, b), combine(c, d));
}

// Sum over n elements; step(i, part, sum) adds its own.
template <class Step>
HWY_INLINE float sum(int64_t n, const Step& step) {
  return sum_of_lanes(fold(n, hn::Zero(tag), step, [](Vector a, Vector b) { return hn::Add(a, b); }));
}

// Largest of n values; value(i, part) gives those of one vector. A NaN may get lost.
template <class Value>
HWY_INLINE float largest(int64_t n, const Value& value) {
  constexpr float kLowest = -__builtin_huge_valf();
  const auto step = [&](int64_t i, auto part, Vector best) {
    return hn::Max(best, pad(value(i, part), kLowest, part));
  };
  const auto larger = [](Vector a, Vector b) { return hn::Max(a, b); };
  return hn::GetLane(hn::MaxOfLanes(tag, fold(n, set(kLowest), step, larger)));
}

HWY_INLINE float dot(const float* a, const float* b, int64_t n) {
  return sum(n, [&](int64_t i, auto part, Vector total) {
    return hn::MulAdd(load(a + i, part), load(b + i, part), total);
  });
}

}  // namespace
}  // namespace sluice::SLUICE_SIMD_NAMESPACE
