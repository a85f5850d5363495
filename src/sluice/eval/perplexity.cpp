#include "sluice/eval/perplexity.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "sluice/base/random.h"
#include "sluice/infer/forward_pass.h"
#include "sluice/nn/tap_points.h"

namespace sluice {
namespace {

// Rows whose logits exist at once: 64 × 152,064 in f32 are 37 MiB.
constexpr int64_t kLogitRows = 64;

double sum_of_rows(const Context& context, const Decoder& decoder, const Tensor& hidden,
                   std::span<const int32_t> targets) {
  const auto rows = static_cast<int64_t>(targets.size());
  const Tensor logits = decoder.logits(context, Var(hidden)).value();
  std::vector<float> losses(targets.size()), log_sums(targets.size());
  const CrossEntropyForward<float> args{.logits = logits.data<float>(),
                                        .targets = targets.data(),
                                        .vocabulary = logits.cols(),
                                        .loss = losses.data(),
                                        .log_sum_exp = log_sums.data()};
  context.run(context.kernels<float>().cross_entropy_forward, args, rows, args.vocabulary);
  return std::accumulate(losses.begin(), losses.end(), 0.0);
}

double mean_of(std::span<const ChunkNll> chunks) {
  ChunkNll all;
  for (const ChunkNll& chunk : chunks) {
    all.sum += chunk.sum;
    all.tokens += chunk.tokens;
  }
  return all.sum / static_cast<double>(all.tokens);
}

double ppl_of(std::span<const ChunkNll> chunks) {
  return std::exp(mean_of(chunks));
}

using Draw = std::vector<size_t>;

std::vector<ChunkNll> drawn_from(std::span<const ChunkNll> chunks, const Draw& draw) {
  std::vector<ChunkNll> drawn;
  drawn.reserve(draw.size());
  for (const size_t chunk : draw) drawn.push_back(chunks[chunk]);
  return drawn;
}

// Percentiles of what `statistic` says about draws of as many chunks as there are.
Interval bootstrap(size_t chunks, const std::function<double(const Draw&)>& statistic) {
  constexpr size_t kResamples = 2000;
  const Random random(0);  // fixed: the same chunks give the same interval
  std::vector<double> values(kResamples);
  Draw draw(chunks);
  for (size_t i = 0; i < kResamples; ++i) {
    for (size_t j = 0; j < chunks; ++j) draw[j] = random.below(i * chunks + j, chunks);
    values[i] = statistic(draw);
  }
  std::ranges::sort(values);
  return {.low = values[kResamples * 25 / 1000], .high = values[kResamples * 975 / 1000]};
}

}  // namespace

ChunkNll chunk_nll(const Context& context, const Decoder& decoder, std::span<const int32_t> ids) {
  ChunkNll result{.tokens = static_cast<int64_t>(ids.size()) - 1};
  if (result.tokens <= 0) return {};
  // The last token predicts nothing that is known.
  const std::span<const int32_t> input = ids.first(static_cast<size_t>(result.tokens));
  const Var hidden = hidden_states(context, decoder, input);
  const auto values = hidden.value().values<float>();
  // A probe on the logits has to see all tokens at once.
  const int64_t step = is_probed(context, {TapName::kNoLayer, points::kLogits}) ? result.tokens : kLogitRows;
  for (int64_t first = 0; first < result.tokens; first += step) {
    const int64_t rows = std::min(step, result.tokens - first);
    const auto part =
        values.subspan(static_cast<size_t>(first * hidden.cols()), static_cast<size_t>(rows * hidden.cols()));
    const Tensor piece = Tensor::from<float>(context.engine.pool(), {rows, hidden.cols()}, part);
    result.sum += sum_of_rows(context, decoder, piece,
                              ids.subspan(static_cast<size_t>(first + 1), static_cast<size_t>(rows)));
  }
  return result;
}

Perplexity perplexity(std::span<const ChunkNll> chunks) {
  Perplexity result;
  for (const ChunkNll& chunk : chunks) result.tokens += chunk.tokens;
  SLUICE_ASSERT(result.tokens > 0, "perplexity: nothing was predicted");
  result.nll = mean_of(chunks);
  result.ppl = std::exp(result.nll);
  result.ci95 = bootstrap(chunks.size(), [&](const Draw& draw) { return ppl_of(drawn_from(chunks, draw)); });
  return result;
}

PerplexityDifference perplexity_difference(std::span<const ChunkNll> chunks, std::span<const ChunkNll> base) {
  SLUICE_ASSERT(chunks.size() == base.size(), "perplexity: {} chunks against {}", chunks.size(), base.size());
  return {.nll = mean_of(chunks) - mean_of(base),
          .ppl = ppl_of(chunks) - ppl_of(base),
          .ci95 = bootstrap(chunks.size(), [&](const Draw& draw) {
            return ppl_of(drawn_from(chunks, draw)) - ppl_of(drawn_from(base, draw));
          })};
}

}  // namespace sluice
