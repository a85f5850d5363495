// A prompt for the terminal, each token shaded by a value.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sluice/analysis/prompt_map.h"

namespace sluice {

enum class ShadeBy { Gate, Surprise, Attention };

struct ShadeRequest {
  ShadeBy by = ShadeBy::Gate;
  std::optional<int64_t> layer = {}, head = {};  // none: the mean over all
  bool colored = false;                          // with codes that a terminal shows as colours
};

struct ShadedPrompt {
  std::string what;  // "gate"
  std::vector<TokenId> ids;
  std::vector<std::string> tokens;
  std::vector<double> values;  // NaN where a token has none
  bool colored = false;
};

// A usage error if the model has no gate, no such layer or no such head.
ShadedPrompt shade_prompt(const PromptMap& map, const ShadeRequest& request);

nlohmann::ordered_json to_json(const ShadedPrompt& prompt);
std::string to_text(const ShadedPrompt& prompt);

}  // namespace sluice
