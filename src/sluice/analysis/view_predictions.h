// What a model predicts behind the tokens of a view: the table of the next token, as the model has it and as
// a sampler sees it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sluice/analysis/prompt_view.h"
#include "sluice/infer/sampler.h"

namespace sluice {

// Logits [N, V] to ln of probabilities, in place; returns −ln of each row's target.
std::vector<float> normalise_logits(const Context& context, const Tensor& logits,
                                    std::span<const TokenId> targets);

class ViewPredictions {
 public:
  // Both must outlive it.
  ViewPredictions(const LoadedModel& model, const PromptView& view, Packing packing = Packing::Once)
      : model_(model), view_(view), packing_(packing) {}

  // [rows, V]: ln of the probability of every token behind each of these positions. A few rows at a time are
  // wise: 64 of a vocabulary of 151,936 are 39 MB.
  Tensor log_probabilities(Range rows) const;

  static constexpr int64_t kRows = 64;

 private:
  const LoadedModel& model_;
  const PromptView& view_;
  Packing packing_;
};

// The same from a residual stream, as if the model ended there. Without interventions.
Tensor lens_log_probabilities(const LoadedModel& model, const Tensor& stream, Range rows,
                              Packing packing = Packing::Once);

struct PredictedToken {
  TokenId id = 0;
  double probability = 0;
};

// The likeliest, most likely first; of equals the smaller id first.
std::vector<PredictedToken> likeliest(std::span<const float> log_probabilities, size_t count);

double entropy_of(std::span<const float> log_probabilities);  // nats

// What the sampler gives each token: 0 if a filter leaves it out.
std::vector<double> sampled_probabilities(std::span<const float> log_probabilities,
                                          const SamplerOptions& options);

struct NextTokens {
  struct Row {
    PredictedToken token;
    double sampled = 0;
  };
  int64_t position = 0;
  double entropy = 0;
  std::vector<Row> top = {};
};

struct NextTokensRequest {
  int64_t position = 0;
  size_t count = 20;
  SamplerOptions sampler = {.temperature = 1.0};
  Packing packing = Packing::Once;
};

// Usage error for a position that the prompt does not have.
NextTokens next_tokens(const LoadedModel& model, const PromptView& view, const NextTokensRequest& request);

}  // namespace sluice
