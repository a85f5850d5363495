#include "sluice/kernels/measure.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sluice/base/median.h"
#include "sluice/base/stopwatch.h"

namespace sluice {
namespace {

constexpr int kRepetitions = 9;
constexpr int kMeterRepetitions = 3;

template <class Measurement>
double median_of(int repetitions, const Measurement& measure) {
  std::vector<double> values(static_cast<size_t>(repetitions));
  for (double& value : values) value = measure();
  return median(std::move(values));
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
}

Rate measure_burst(Burst burst, const Threads& threads) {
  const int64_t rounds = calibrated_rounds(burst);
  const auto rate = [&](const Threads& on) {
    return median_of(kRepetitions, [&] { return burst_rate(burst, on, rounds); });
  };
  return {.one_core = rate(Threads(1)), .all_threads = rate(threads)};
}

constexpr int64_t kReads = int64_t{96} << 20;  // 384 MiB: several times the last-level cache of most CPUs

MemoryPool::Block memory_to_read(const Threads& threads, MemoryPool& pool) {
  MemoryPool::Block block = pool.allocate(kReads * sizeof(float));
  auto* data = reinterpret_cast<float*>(block.data());
  threads.split(kReads, 1, [&](Range range) { std::fill(data + range.begin, data + range.end, 1.0F); });
  return block;
}

double read_rate(const PeakKernels& kernels, const Threads& threads, const MemoryPool::Block& block) {
  const auto* data = reinterpret_cast<const float*>(block.data());
  std::vector<float> sinks(static_cast<size_t>(threads.count()));
  const double seconds = seconds_of([&] {
    threads.split(threads.count(), 1, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        const int64_t begin = kReads * i / threads.count();
        const int64_t end = kReads * (i + 1) / threads.count();
        sinks[i] = kernels.read(data + begin, end - begin);
      }
    });
  });
  return static_cast<double>(kReads) * sizeof(float) / seconds;
}

Rate measure_reads(const PeakKernels& kernels, const Threads& threads, MemoryPool& pool) {
  const MemoryPool::Block block = memory_to_read(threads, pool);
  const auto rate = [&](const Threads& on) {
    return median_of(kRepetitions, [&] { return read_rate(kernels, on, block); });
  };
  return {.one_core = rate(Threads(1)), .all_threads = rate(threads)};
}

}  // namespace

PeakMeter::PeakMeter(const PeakKernels& kernels, const Threads& threads, MemoryPool& pool)
    : kernels_(kernels), threads_(threads), pool_(pool) {}

double PeakMeter::measure_burst(Burst burst, int64_t& rounds) const {
  if (rounds == 0) rounds = calibrated_rounds(burst);
  return median_of(kMeterRepetitions, [&] { return burst_rate(burst, threads_, rounds); });
}

double PeakMeter::measure(Peak peak) {
  if (peak == Peak::F32Flops) return measure_burst(kernels_.f32_multiply_add, f32_rounds_);
  if (peak == Peak::Bf16Flops) return measure_burst(kernels_.bf16_products, bf16_rounds_);
  if (reads_.data() == nullptr) reads_ = memory_to_read(threads_, pool_);
  return median_of(kMeterRepetitions, [&] { return read_rate(kernels_, threads_, reads_); });
}

MachinePeaks measure_peaks(const PeakKernels& kernels, const Threads& threads, MemoryPool& pool) {
  MachinePeaks peaks;
  peaks.f32_flops = measure_burst(kernels.f32_multiply_add, threads);
  if (kernels.bf16_products != nullptr) peaks.bf16_flops = measure_burst(kernels.bf16_products, threads);
  peaks.read_bandwidth = measure_reads(kernels, threads, pool);
  return peaks;
}

}  // namespace sluice
