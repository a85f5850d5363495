// Continuing prompts: from token ids to text, as it comes and as a whole.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/error.h"
#include "sluice/base/job_control.h"
#include "sluice/infer/loaded_model.h"
#include "sluice/infer/sampler.h"
#include "sluice/probe/intervention.h"
#include "sluice/text/text_format.h"

namespace sluice {

// A text ends at the model's end-of-text token or after max_tokens.
struct TextGenerationOptions {
  SamplerOptions sampler = {};
  int64_t max_tokens = 64;
  std::vector<Intervention> interventions = {};  // for every pass
};

struct GeneratedText {
  std::optional<std::string> text;  // without the prompt; none if the model has no tokenizer
  std::vector<TokenId> ids;
  std::optional<TokenId> stopped_by = {};  // the end-of-text token; none: long enough
  int64_t prompt_tokens = 0;
  double prompt_seconds = 0, decode_seconds = 0;

  double prompt_rate() const;  // tokens per second
  double decode_rate() const;
};

nlohmann::ordered_json to_json(const GeneratedText& generated);

// Called with every new token and the text that has become complete with it: never a part of a character, so
// it may be empty. Once more at the end, without a token, if text is left.
using TokenArrived = std::function<void(std::optional<TokenId> id, std::string_view text)>;

struct TextGenerationRequest {
  std::vector<TokenId> prompt;
  TextGenerationOptions options = {};
  TokenArrived arrived = {};
  // Called before each token arrives, with the logits that it is chosen from.
  std::function<void(std::span<const float>)> chosen_from = {};
  // Asked after each token: whether the text is long enough.
  std::function<bool()> enough = {};
};

// Throws if it is cancelled: what came until then went to `arrived`. Usage error if an intervention needs
// calibration text and has none, or, at the end, if one met no token.
GeneratedText generate_text(const LoadedModel& model, const TextGenerationRequest& request,
                            const JobControl& control = {});

// A prompt among many.
struct Prompt {
  std::string text;
  std::vector<TokenId> ids;
};

// Every prompt of a file (data/text_reader.h says which), "-" for standard input. All are looked at before
// the first is continued: a bad one at the end costs no hours.
std::vector<Prompt> read_prompts(const LoadedModel& model, const std::string& path,
                                 std::optional<TextFormat> format = {});

struct ContinuedPrompt {
  std::string prompt;
  GeneratedText generated;
};

nlohmann::ordered_json to_json(const ContinuedPrompt& continued);

struct ContinuedPrompts {
  std::vector<ContinuedPrompt> results;
  std::optional<Error> ended_by = {};  // a cancellation or a failure; what was done before it is kept
};

nlohmann::ordered_json to_json(const ContinuedPrompts& continued);

struct PromptsRequest {
  std::vector<Prompt> prompts;
  TextGenerationOptions options = {};
  std::function<void(const ContinuedPrompt&)> finished =
      {};  // called with each result as soon as it is there
};

// Usage error if an intervention needs calibration text and has none. That one met no token of any prompt is
// known only when all are done: it is in `ended_by`.
ContinuedPrompts continue_prompts(const LoadedModel& model, const PromptsRequest& request,
                                  const JobControl& control = {});

}  // namespace sluice
