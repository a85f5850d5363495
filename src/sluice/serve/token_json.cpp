#include "sluice/serve/token_json.h"

#include "sluice/base/json_text.h"

namespace sluice::serve {

using nlohmann::ordered_json;

ordered_json token_json(const LoadedModel& model, TokenId id) {
  return model.has_tokenizer() ? ordered_json(model.decode({&id, 1})) : ordered_json();
}

ordered_json predicted_json(const LoadedModel& model, const PredictedToken& token) {
  return {{"id", token.id},
          {"token", token_json(model, token.id)},
          {"probability", shortest_number(static_cast<float>(token.probability))}};
}

ordered_json predicted_json(const LoadedModel& model, std::span<const PredictedToken> tokens) {
  ordered_json list = ordered_json::array();
  for (const PredictedToken& token : tokens) list.push_back(predicted_json(model, token));
  return list;
}

}  // namespace sluice::serve
