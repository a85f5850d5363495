#include "sluice/serve/completion_text.h"

#include <algorithm>
#include <cmath>

namespace sluice::serve {

using nlohmann::ordered_json;

CompletionText::CompletionText(const LoadedModel& model, const CompletionTextOptions& options,
                               Arrived arrived)
    : model_(model),
      options_(options),
      arrived_(std::move(arrived)),
      chances_(options.alternatives.value_or(0)) {}

void CompletionText::note_token(TokenId id, std::span<const float> log_probabilities) {
  if (!options_.alternatives) return;
  const auto text_of_token = [&](TokenId each) {
    return model_.has_tokenizer() ? model_.decode({&each, 1}) : std::to_string(each);
  };
  Token& token = tokens_.emplace_back();
  token.text = text_of_token(id);
  token.offset = text_.size();
  if (log_probabilities.empty()) return;
  token.logprob = log_probabilities[static_cast<size_t>(id)];
  for (const PredictedToken& each : likeliest(log_probabilities, *options_.alternatives))
    token.top.emplace_back(text_of_token(each.id), std::log(each.probability));
  // As clients expect it: beside the likeliest, the one that was taken.
  const auto is_own = [&](const auto& each) { return each.first == token.text; };
  if (std::ranges::none_of(token.top, is_own)) token.top.emplace_back(token.text, *token.logprob);
}

void CompletionText::add_prompt_token(TokenId id, std::span<const float> log_probabilities) {
  note_token(id, log_probabilities);
  if (model_.has_tokenizer()) text_ += model_.decode({&id, 1});
  prompt_bytes_ = text_.size();
}

void CompletionText::add(std::optional<TokenId> id, std::string_view piece) {
  if (stopped_) return;
  if (id) note_token(*id, chances_.log_probabilities);
  text_ += piece;
  size_t certain = text_.size();
  for (const std::string& stop : options_.stops) {
    const size_t found = text_.find(stop, prompt_bytes_);
    if (found != std::string::npos) {
      text_.resize(found);
      certain = std::min(certain, found);
      stopped_ = true;
    }
    // The end of the text may be the beginning of a stop sequence.
    for (size_t length = std::min(stop.size() - 1, text_.size() - prompt_bytes_); length > 0; --length)
      if (text_.ends_with(std::string_view(stop).substr(0, length)))
        certain = std::min(certain, text_.size() - length);
  }
  // Of tokens behind the end nothing is told.
  if (stopped_)
    while (!tokens_.empty() && tokens_.back().offset >= text_.size() && tokens_.size() > given_tokens_)
      tokens_.pop_back();
  hand_over(stopped_ ? text_.size() : certain);
}

void CompletionText::finish() {
  hand_over(text_.size());
}

void CompletionText::hand_over(size_t end) {
  size_t tokens = given_tokens_;
  while (tokens < tokens_.size() && (tokens_[tokens].offset < end || end == text_.size())) ++tokens;
  if (arrived_ && (end > given_ || tokens > given_tokens_))
    arrived_(std::string_view(text_).substr(given_, end - given_), logprobs_json(given_tokens_, tokens));
  given_ = std::max(given_, end);
  given_tokens_ = tokens;
}

ordered_json CompletionText::logprobs_json(size_t first, size_t end) const {
  if (!options_.alternatives) return {};
  ordered_json tokens = ordered_json::array(), logprobs = tokens, tops = tokens, offsets = tokens;
  for (const Token& token : std::span(tokens_).subspan(first, end - first)) {
    tokens.push_back(token.text);
    logprobs.push_back(token.logprob ? ordered_json(*token.logprob) : ordered_json());
    ordered_json top;
    for (const auto& [text, logprob] : token.top) top[text] = logprob;
    tops.push_back(std::move(top));
    offsets.push_back(token.offset);
  }
  return {{"tokens", std::move(tokens)},
          {"token_logprobs", std::move(logprobs)},
          {"top_logprobs", std::move(tops)},
          {"text_offset", std::move(offsets)}};
}

}  // namespace sluice::serve
