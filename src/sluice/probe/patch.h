// Activation patching between two prompts of the same length. A clean prompt leads the model to an answer, a
// corrupted one to a wrong answer. Values of one prompt's pass are put, piece by piece, into the other's:
// what brings the answer back, or takes it away, carries it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/infer/loaded_model.h"

namespace sluice {

// Denoise: clean values into the corrupted pass, which finds what suffices. Noise: corrupted values into the
// clean pass, which finds what is needed.
enum class PatchDirection { Denoise, Noise };

enum class PatchPieces {
  Positions,  // all of a tap's value at one token
  Heads,      // one head at all tokens
  Both        // heads only where a tap has them
};

struct PatchRequest {
  std::vector<TokenId> clean, corrupted;  // as many tokens each
  TokenId answer = 0, wrong = 0;          // what the last token is followed by
  std::vector<std::string> taps = {};     // as TapPattern takes them; empty: default_patch_taps()
  PatchDirection direction = PatchDirection::Denoise;
  PatchPieces pieces = PatchPieces::Both;
};

// The stream, what attention hands to its output projection, and every gate that the model has.
std::vector<std::string> default_patch_taps(const ModelConfig& config);

// Prompts of more tokens are refused: every one of them costs a pass per layer.
constexpr size_t kMaxPatchTokens = 512;

// A logit difference, answer minus wrong, on the way from that of the corrupted prompt (0) to that of the
// clean one (1), whatever the direction. Beyond both ends is possible; NaN if the patched pass was not
// finite.
using RecoveredShare = double;

struct PatchedLayer {
  int64_t layer = 0;
  std::vector<RecoveredShare> positions = {};  // empty if not asked for
  std::vector<RecoveredShare> heads = {};      // likewise, or without heads
};

struct PatchMap {
  std::string tap;                        // "attn.gate"
  std::vector<PatchedLayer> layers = {};  // that have it and were asked for
};

struct PatchPrompt {
  std::vector<TokenId> ids;
  std::vector<std::string> tokens = {};  // their text; empty if the model has no tokenizer
  double difference = 0;                 // logit of the answer minus that of the wrong one
};

struct PatchAnswer {
  TokenId id = 0;
  std::string text = {};  // empty without a tokenizer
};

struct PatchResult {
  PatchDirection direction = PatchDirection::Denoise;
  PatchPrompt clean, corrupted;
  PatchAnswer answer, wrong;
  std::vector<PatchMap> maps = {};
};

std::string_view name_of(PatchDirection direction);  // "denoise", "noise"

// The share of a pass that nothing was put into.
double untouched_share(PatchDirection direction);

nlohmann::ordered_json to_json(const PatchResult& result);
// The pieces that do most at each tap, either way, and how many more there are.
std::string to_text(const PatchResult& result);

// The one token that a text is. A usage error of the option if it is none or several.
TokenId single_token(const LoadedModel& model, std::string_view text, const std::string& option);

// The stream before a layer is computed once for all that is patched in it, and pieces go through the layers
// behind it as one batch. A usage error if the prompts are not equally long, if a tap is not there, can only
// be read, or has no heads although those alone are asked for, or if the two prompts do not tell the answers
// apart: the clean one must prefer the answer, and the corrupted one must do so less.
PatchResult patch_prompts(const LoadedModel& model, const PatchRequest& request,
                          const JobControl& control = {});

}  // namespace sluice
