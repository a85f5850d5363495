// The text of a completion as it grows: cut at the first stop sequence, with the chances of its tokens.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/infer/loaded_model.h"
#include "sluice/serve/token_chances.h"

namespace sluice::serve {

struct CompletionTextOptions {
  std::vector<std::string> stops = {};
  std::optional<size_t> alternatives = {};  // likeliest tokens beside each; none: no chances at all
};

class CompletionText {
 public:
  // Called with text that no stop sequence can take back any more, and the chances of its tokens.
  using Arrived = std::function<void(std::string_view, const nlohmann::ordered_json&)>;

  CompletionText(const LoadedModel& model, const CompletionTextOptions& options, Arrived arrived);

  // Tokens that are repeated from the prompt. The first has no chances: nothing predicted it.
  void add_prompt_token(TokenId id, std::span<const float> log_probabilities);

  // As generate_text() calls them.
  void chosen_from(std::span<const float> logits) { chances_.next(logits); }
  void add(std::optional<TokenId> id, std::string_view piece);

  // Hands over what still waited.
  void finish();

  bool is_stopped() const { return stopped_; }
  const std::string& text() const { return text_; }

  // null if nobody asked for it.
  nlohmann::ordered_json logprobs_json() const { return logprobs_json(0, tokens_.size()); }

 private:
  struct Token {
    std::string text;
    std::optional<double> logprob;
    std::vector<std::pair<std::string, double>> top;
    size_t offset;  // of its text
  };

  void note_token(TokenId id, std::span<const float> log_probabilities);
  void hand_over(size_t end);
  nlohmann::ordered_json logprobs_json(size_t first, size_t end) const;

  const LoadedModel& model_;
  CompletionTextOptions options_;
  Arrived arrived_;
  TokenChances chances_;
  std::string text_;
  size_t prompt_bytes_ = 0, given_ = 0, given_tokens_ = 0;
  bool stopped_ = false;
  std::vector<Token> tokens_;
};

}  // namespace sluice::serve
