#include "sluice/eval/evaluate.h"

#include <fmt/format.h>

namespace sluice {
namespace {

enum class Figure { Perplexity, Difference };

std::string told(const std::optional<Interval>& interval, Figure figure) {
  if (!interval) return "one chunk: no interval";
  if (figure == Figure::Perplexity)
    return fmt::format("95 % interval {:.4f} to {:.4f}, bootstrap over chunks", interval->low,
                       interval->high);
  return fmt::format("95 % interval {:+.4f} to {:+.4f}, the same chunks in both", interval->low,
                     interval->high);
}

// How the chunks were cut, apart from their length.
std::string cut(const Evaluation& evaluation) {
  const bool own_begin = evaluation.begin_of_text == BeginOfText::Chunk;
  std::string text;
  if (evaluation.stride < evaluation.chunk_length - (own_begin ? 1 : 0))
    text += fmt::format(", one every {} tokens", evaluation.stride);
  if (own_begin) text += ", each behind a begin-of-text token";
  if (evaluation.begin_of_text == BeginOfText::Text) text += ", a begin-of-text token before the first";
  return text;
}

}  // namespace

std::string to_text(const Evaluation& evaluation) {
  const Perplexity& result = evaluation.perplexity;
  std::string text =
      fmt::format("perplexity      {:.4f}  ({})\n", result.ppl, told(result.ci95, Figure::Perplexity));
  if (evaluation.against) {
    const auto& [dtype, base, difference] = *evaluation.against;
    text += fmt::format("with {:<11}{:.4f}  ({})\n", weight_type_name(dtype), base.ppl,
                        told(base.ci95, Figure::Perplexity));
    text += fmt::format("difference      {:+.4f}  ({})\n", difference.ppl,
                        told(difference.ci95, Figure::Difference));
  }
  text += fmt::format("weights         {}\n", weight_type_name(evaluation.dtype));
  text += fmt::format("nll             {:.6f} per token\n", result.nll);
  if (evaluation.bits_per_byte) text += fmt::format("bits per byte   {:.4f}\n", *evaluation.bits_per_byte);
  text += fmt::format("n               {} predicted tokens, {} chunk{} of {}{}\n", result.tokens,
                      evaluation.chunks.size(), evaluation.chunks.size() > 1 ? "s" : "",
                      evaluation.chunk_length, cut(evaluation));
  return text;
}

}  // namespace sluice
