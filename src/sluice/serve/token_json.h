// Tokens in answers, the same in all of them.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "sluice/analysis/view_predictions.h"

namespace sluice::serve {

// A token's text; null without a tokenizer.
nlohmann::ordered_json token_json(const LoadedModel& model, TokenId id);

// {"id", "token", "probability"}
nlohmann::ordered_json predicted_json(const LoadedModel& model, const PredictedToken& token);
nlohmann::ordered_json predicted_json(const LoadedModel& model, std::span<const PredictedToken> tokens);

}  // namespace sluice::serve
