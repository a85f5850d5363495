#include "sluice/kernels/measure.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <vector>

namespace sluice {
namespace {

constexpr int kRepetitions = 9;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class Measurement>
double median_of(const Measurement& measure) {
  std::array<double, kRepetitions> values{};
  for (double& value : values) value = measure();
  std::nth_element(values.begin(), values.begin() + kRepetitions / 2, values.end());
  return values[kRepetitions / 2];
}

using Burst = int64_t (*)(int64_t rounds, float* sink);

// Rounds that keep one core busy for about 20 ms: long against starting a thread, short against a user's
// patience.
int64_t calibrated_rounds(Burst burst) {
  float sink = 0;
  for (int64_t rounds = 1024;; rounds *= 2) {
    if (seconds_of([&] { burst(rounds, &sink); }) > 0.02) return rounds;
  }
}

double burst_rate(Burst burst, const Threads& threads, int64_t rounds) {
  return median_of([&] {
    std::vector<float> sinks(static_cast<size_t>(threads.count()));
    std::vector<int64_t> operations(sinks.size());
    const double seconds = seconds_of([&] {
      threads.split(threads.count(), 1, [&](Range range) {
        for (int64_t i = range.begin; i < range.end; ++i) operations[i] = burst(rounds, &sinks[i]);
      });
    });
    int64_t total = 0;
    for (const int64_t count : operations) total += count;
    return static_cast<double>(total) / seconds;
  });
}

Rate measure_burst(Burst burst, const Threads& threads) {
  const int64_t rounds = calibrated_rounds(burst);
  return {.one_core = burst_rate(burst, Threads(1), rounds),
          .all_threads = burst_rate(burst, threads, rounds)};
}

double read_rate(const PeakKernels& kernels, const Threads& threads, const float* data, int64_t count) {
  return median_of([&] {
    std::vector<float> sinks(static_cast<size_t>(threads.count()));
    const double seconds = seconds_of([&] {
      threads.split(threads.count(), 1, [&](Range range) {
        for (int64_t i = range.begin; i < range.end; ++i) {
          const int64_t begin = count * i / threads.count();
          const int64_t end = count * (i + 1) / threads.count();
          sinks[i] = kernels.read(data + begin, end - begin);
        }
      });
    });
    return static_cast<double>(count) * sizeof(float) / seconds;
  });
}

Rate measure_reads(const PeakKernels& kernels, const Threads& threads, MemoryPool& pool) {
  constexpr int64_t kCount = int64_t{96} << 20;  // 384 MiB: several times the last-level cache of most CPUs
  const MemoryPool::Block block = pool.allocate(kCount * sizeof(float));
  auto* data = reinterpret_cast<float*>(block.data());
  threads.split(kCount, 1, [&](Range range) { std::fill(data + range.begin, data + range.end, 1.0F); });
  return {.one_core = read_rate(kernels, Threads(1), data, kCount),
          .all_threads = read_rate(kernels, threads, data, kCount)};
}

}  // namespace

double measure_arithmetic(const PeakKernels& kernels, const Threads& threads, Arithmetic arithmetic) {
  const bool tiles = arithmetic == Arithmetic::Bf16 && kernels.bf16_tiles != nullptr;
  const Burst burst = tiles ? kernels.bf16_tiles : kernels.f32_multiply_add;
  return burst_rate(burst, threads, calibrated_rounds(burst));
}

MachinePeaks measure_peaks(const PeakKernels& kernels, const Threads& threads, MemoryPool& pool) {
  MachinePeaks peaks;
  peaks.f32_flops = measure_burst(kernels.f32_multiply_add, threads);
  if (kernels.bf16_tiles != nullptr) peaks.bf16_flops = measure_burst(kernels.bf16_tiles, threads);
  peaks.read_bandwidth = measure_reads(kernels, threads, pool);
  return peaks;
}

}  // namespace sluice
