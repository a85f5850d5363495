// Breaking models in many ways, one at a time, and saying what each does: the use case behind `sluice
// ablate`. Which ways there are is in plan_request.h, how they are run in plan_runner.h, how much text each
// sees in rounds.h; the log that a killed one is resumed from is in ablation_log.h. What the result comes to
// is in ablation_analysis.h.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sluice/ablate/ablation_log.h"
#include "sluice/ablate/gate_estimates.h"
#include "sluice/ablate/plan_request.h"
#include "sluice/ablate/rounds.h"
#include "sluice/analysis/look.h"
#include "sluice/dist/pieces.h"
#include "sluice/eval/text_source.h"

namespace sluice {

struct AblationResult;

struct AblationText {
  std::string name;  // in tables
  TextSource source;
};

// Whether effects are estimated from gradients (gate_estimates.h): beside what is run, or instead of it.
enum class EstimateUse { None, Beside, Instead };

struct AblationRequest {
  std::vector<std::string> models;
  ModelOptions options = {};
  std::vector<AblationText> texts;
  ChunkOptions chunks = {};
  // Where means and other sequences' gates come from, and how closed each layer is. None: the last chunks of
  // each text are held apart for it.
  std::optional<TextSource> calibration = {};

  PlanRequest plan = {};
  std::filesystem::path plan_file = {};  // instead of the request; empty: none

  uint64_t seed = 0;  // of the order of chunks
  StoppingRule rule = {};
  Coverage coverage = Coverage::UntilDecided;
  int64_t memory = int64_t{1} << 30;  // as PlanRunnerOptions has it

  EstimateUse estimates = EstimateUse::None;
  int64_t estimate_steps = 0;   // of integrated gradients; 0: first order alone
  int64_t estimate_chunks = 8;  // of the first text, the first ones of its order

  std::optional<std::string> prompt = {};  // of the samples; none: the beginning of the first text
  int64_t sample_tokens = 40;              // 0: no samples

  std::filesystem::path out;  // gets the log
  LogStart start = LogStart::New;
  WorkSharing sharing = {};  // other processes work on the same ablation, each on chunks that nobody has
  // Writes down what processes that share the work have come to, before it counts as done.
  std::function<void(const AblationResult&)> publish = {};
};

// What one run does on one text. Changes are against the unbroken model on the same chunks.
struct RunEffect {
  int64_t chunks = 0;                 // that it has seen
  int64_t tokens = 0;                 // predicted in them
  std::vector<double> by_chunk = {};  // change of nll per token, by round

  Estimate nll = {};                      // change per token, 95 % bootstrap of pairs
  std::optional<Interval> sequence = {};  // of the same: holds at every time of stopping and for all runs
  double ppl = 0;                         // of the broken model on these chunks
  Estimate ppl_ratio = {};                // broken / unbroken
  double kl = 0;                          // KL(unbroken || broken) per token
  double changed_top1 = 0;                // share of tokens whose likeliest successor is another one
  Estimate sink = {}, activation = {};  // changes of attention on the first token, of the largest activation
  std::optional<Interval> sink_sequence = {};  // as sequence; counted for runs that ask_about_the_sink()
  double p = 1, corrected_p = 1;  // that nothing changed, at every time of stopping; times all comparisons
  RunVerdict verdict = RunVerdict::Undecided;
  std::string reason = {};  // why it is undecided or not finite
  bool finite = true;  // false: the likelihood of a chunk was not; then it is worse, and the figures are NaN
};

// What AblatedText::calibration says of a text that was given for it.
inline constexpr const char* kOwnCalibration = "a text of its own";

struct LayerGates {
  int64_t layer = 0;
  double mean = 0, closed = 0;  // closed: share below 0.1
};

struct AblatedText {
  std::string name = {};
  int64_t chunks = 0, chunk_length = 0;    // that there are to see
  uint32_t checksum = 0;                   // of their tokens
  std::string calibration = {};            // what it was calibrated on, in words
  std::vector<std::string> warnings = {};  // what is doubtful about it, as sentences
  Perplexity base = {};                    // of the unbroken model, on the chunks that were seen
  std::vector<double> base_by_chunk = {};  // nll per token, by round
  double base_sink = 0, base_activation = 0;
  std::vector<RunEffect> effects = {};  // by run of the plan
};

struct BrokenSample {
  std::string run;  // empty: the unbroken model
  std::string text;
  int64_t tokens = 0;
};

struct AblatedModel {
  std::string name = {}, path = {};
  int64_t parameters = 0, layers = 0, heads = 0;
  bool gated = false;
  AblationPlan plan = {};
  std::vector<LayerGates> gates = {};  // of the calibration text, if there is a gate at g1
  std::vector<AblatedText> texts = {};
  std::optional<GateEstimates> estimates = {};  // of the first text
  std::string prompt = {};
  std::vector<BrokenSample> samples = {};
};

struct AblationResult {
  std::vector<AblatedModel> models = {};
  StoppingRule rule = {};
  Coverage coverage = Coverage::UntilDecided;
  uint64_t seed = 0;
  bool is_elsewhere = false;  // another process collects the results; there are none here
};

// One model after the other, never two in memory. Everything is read and checked, for all models and texts,
// before the first chunk is run or anything is written.
AblationResult run_ablation(Engine& engine, const AblationRequest& request, const JobControl& control = {});

nlohmann::ordered_json to_json(const AblationResult& result);
std::string to_text(const AblationResult& result);

}  // namespace sluice
