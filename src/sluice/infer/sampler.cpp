#include "sluice/infer/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

using Candidate = Sampler::Candidate;  // here its weight is the probability up to a common factor

// Largest first; of equals the smaller id.
std::vector<Candidate> ranked(std::span<const float> logits, const SamplerOptions& options) {
  std::vector<Candidate> candidates(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) candidates[i] = {static_cast<int32_t>(i), logits[i]};
  const auto better = [](const Candidate& a, const Candidate& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.id < b.id;
  };
  if (options.top_k > 0 && options.top_k < static_cast<int64_t>(candidates.size())) {
    std::partial_sort(candidates.begin(), candidates.begin() + options.top_k, candidates.end(), better);
    candidates.resize(static_cast<size_t>(options.top_k));
  } else {
    std::ranges::sort(candidates, better);
  }
  const double largest = candidates.front().weight;
  for (Candidate& each : candidates) each.weight = std::exp((each.weight - largest) / options.temperature);
  return candidates;
}

double total(const std::vector<Candidate>& candidates) {
  return std::accumulate(candidates.begin(), candidates.end(), 0.0,
                         [](double sum, const Candidate& each) { return sum + each.weight; });
}

// The fewest candidates that hold a share of top_p, then those at least min_p as likely as the first.
void filter(std::vector<Candidate>& candidates, const SamplerOptions& options) {
  const double enough = options.top_p * total(candidates);
  double sum = 0;
  size_t kept = 0;
  while (kept < candidates.size() && (kept == 0 || (options.top_p >= 1.0 || sum < enough))) {
    sum += candidates[kept++].weight;
  }
  candidates.resize(kept);
  std::erase_if(candidates, [&](const Candidate& each) { return each.weight < options.min_p; });
}

}  // namespace

std::vector<Candidate> Sampler::candidates(std::span<const float> logits, const SamplerOptions& options) {
  SLUICE_ASSERT(!logits.empty(), "sampler: no logits");
  if (options.temperature == 0.0)
    return {{static_cast<int32_t>(std::ranges::max_element(logits) - logits.begin()), 1.0}};
  std::vector<Candidate> left = ranked(logits, options);
  filter(left, options);
  const double all = total(left);
  for (Candidate& each : left) each.weight /= all;
  return left;
}

int32_t Sampler::next(std::span<const float> logits) {
  SLUICE_ASSERT(!logits.empty(), "sampler: no logits");
  if (options_.temperature == 0.0) {
    return static_cast<int32_t>(std::ranges::max_element(logits) - logits.begin());
  }
  std::vector<Candidate> candidates = ranked(logits, options_);
  filter(candidates, options_);
  double left = random_.uniform(draws_++) * total(candidates);
  for (const Candidate& each : candidates) {
    left -= each.weight;
    if (left < 0) return each.id;
  }
  return candidates.back().id;
}

}  // namespace sluice
