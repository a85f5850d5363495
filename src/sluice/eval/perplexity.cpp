#include "sluice/eval/perplexity.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sluice/nn/tap_points.h"

namespace sluice {
namespace {

// Of one row after the other.
std::vector<float> row_losses(const Context& context, const Decoder& decoder, const Tensor& hidden,
                              std::span<const TokenId> targets) {
  const Tensor logits = decoder.logits(context, Var(hidden)).value();
  std::vector<float> losses(targets.size()), log_sums(targets.size());
  const CrossEntropyForward<float> args{.logits = logits.data<float>(),
                                        .targets = targets.data(),
                                        .vocabulary = logits.cols(),
                                        .loss = losses.data(),
                                        .log_sum_exp = log_sums.data()};
  context.run(context.kernels<float>().cross_entropy_forward, args, std::ssize(targets), args.vocabulary);
  return losses;
}

// Of the targets from `counted` on, some rows of `hidden` at a time; those before it stay 0.
std::vector<float> losses_of(const Context& context, const Decoder& decoder, const Tensor& hidden,
                             std::span<const TokenId> targets, size_t counted = 0) {
  const auto width = static_cast<size_t>(hidden.cols());
  std::vector<float> losses(targets.size());
  // A probe that wants the logits has to get those of all tokens at once.
  const bool all = is_probed(context, {TapName::kNoLayer, points::kLogits});
  const size_t step = all ? losses.size() : static_cast<size_t>(kLogitRows);
  for (size_t first = all ? 0 : counted; first < losses.size(); first += step) {
    const size_t rows = std::min(step, losses.size() - first);
    const Tensor piece =
        Tensor::from<float>(context.engine.pool(), {static_cast<int64_t>(rows), hidden.cols()},
                            hidden.values<float>().subspan(first * width, rows * width));
    std::ranges::copy(row_losses(context, decoder, piece, targets.subspan(first, rows)),
                      losses.begin() + static_cast<std::ptrdiff_t>(first));
  }
  return losses;
}

std::vector<float> token_losses(const Context& context, const Decoder& decoder, const PredictedTokens& tokens,
                                size_t counted = 0) {
  const Tensor hidden = decoder.forward(context, tokens.inputs, tokens.sequences).y.value();
  return losses_of(context, decoder, hidden, tokens.targets, counted);
}

// Some of the chunks, by index.
double mean_of(std::span<const ChunkNll> chunks, std::span<const size_t> draw) {
  ChunkNll all;
  for (const size_t chunk : draw) {
    all.sum += chunks[chunk].sum;
    all.tokens += chunks[chunk].tokens;
  }
  return all.sum / static_cast<double>(all.tokens);
}

double mean_of(std::span<const ChunkNll> chunks) {
  std::vector<size_t> all(chunks.size());
  std::iota(all.begin(), all.end(), 0);
  return mean_of(chunks, all);
}

}  // namespace

std::vector<ChunkNll> sequence_nlls(const Context& context, const Decoder& decoder,
                                    const PredictedTokens& tokens) {
  SLUICE_ASSERT(tokens.inputs.size() == tokens.targets.size(), "nll: {} inputs, {} targets",
                tokens.inputs.size(), tokens.targets.size());
  const std::vector<float> losses = token_losses(context, decoder, tokens);
  std::vector<ChunkNll> results;
  for (int64_t s = 0; s < tokens.sequences.count(); ++s) {
    const int64_t length = tokens.sequences.length(s);
    const auto* first = losses.data() + tokens.sequences.starts()[static_cast<size_t>(s)];
    results.push_back({.sum = std::accumulate(first, first + length, 0.0), .tokens = length});
  }
  return results;
}

ChunkNll chunk_nll(const Context& context, const Decoder& decoder, std::span<const TokenId> ids) {
  return chunk_nll(
      context, decoder,
      Chunk{.ids = {ids.begin(), ids.end()}, .predicted = std::max<int64_t>(std::ssize(ids), 1) - 1});
}

ChunkNll chunk_nll(const Context& context, const Decoder& decoder, const Chunk& chunk) {
  const std::vector<float> losses = predicted_losses(context, decoder, chunk);
  return {.sum = std::accumulate(losses.begin(), losses.end(), 0.0), .tokens = chunk.predicted};
}

std::vector<float> predicted_losses(const Context& context, const Decoder& decoder, const Chunk& chunk) {
  if (chunk.predicted == 0) return {};
  const std::span<const TokenId> ids(chunk.ids);
  // The last token predicts nothing that is known.
  const Sequences one = Sequences::equal(1, std::ssize(ids) - 1);
  const PredictedTokens tokens{
      .inputs = ids.first(ids.size() - 1), .targets = ids.subspan(1), .sequences = one};
  const size_t counted = tokens.targets.size() - static_cast<size_t>(chunk.predicted);
  const std::vector<float> losses = token_losses(context, decoder, tokens, counted);
  return {losses.begin() + static_cast<std::ptrdiff_t>(counted), losses.end()};
}

std::vector<float> next_token_losses(const Context& context, const Decoder& decoder, const Tensor& hidden,
                                     std::span<const TokenId> ids) {
  return losses_of(context, decoder, hidden, ids.subspan(1));
}

Perplexity perplexity(std::span<const ChunkNll> chunks) {
  Perplexity result;
  for (const ChunkNll& chunk : chunks) result.tokens += chunk.tokens;
  SLUICE_ASSERT(result.tokens > 0, "perplexity: nothing was predicted");
  result.nll = mean_of(chunks);
  result.ppl = std::exp(result.nll);
  result.ci95 =
      bootstrap(chunks.size(), [&](std::span<const size_t> draw) { return std::exp(mean_of(chunks, draw)); });
  return result;
}

PerplexityDifference perplexity_difference(std::span<const ChunkNll> chunks, std::span<const ChunkNll> base) {
  SLUICE_ASSERT(chunks.size() == base.size(), "perplexity: {} chunks against {}", chunks.size(), base.size());
  return {.nll = mean_of(chunks) - mean_of(base),
          .ppl = std::exp(mean_of(chunks)) - std::exp(mean_of(base)),
          .ci95 = bootstrap(chunks.size(), [&](std::span<const size_t> draw) {
            return std::exp(mean_of(chunks, draw)) - std::exp(mean_of(base, draw));
          })};
}

}  // namespace sluice
