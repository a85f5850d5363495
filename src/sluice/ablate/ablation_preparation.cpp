#include "sluice/ablate/ablation_preparation.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "sluice/ablate/matched_noise.h"
#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"
#include "sluice/model/model_checksum.h"

namespace sluice {
namespace {

constexpr int64_t kMostCalibrationChunks = 8;

int64_t standard_inputs_of(const TextSource& source) {
  const auto* files = std::get_if<DataFiles>(&source);
  return files == nullptr ? 0 : std::ranges::count(files->paths, "-");
}

// The chunks from `first` on.
ChunkedText rest_of(const ChunkedText& text, int64_t first) {
  ChunkedText rest = text;
  rest.tokens.erase(rest.tokens.begin(), rest.tokens.begin() + first * text.stride);
  return rest;
}

void check_apart(const LoadedModel& model, const AblationText& text, const ChunkedText& read) {
  if (read.chunks() >= 2) return;
  throw bad_input({.where = model.path().string(),
                   .what = fmt::format("the text {} is too short for this model", text.name),
                   .expected = fmt::format("at least 2 chunks, one of them to calibrate with"),
                   .got = fmt::format("{} tokens, 1 chunk", read.tokens.size()),
                   .hint = "--chunk makes chunks shorter, --calibration takes another text"});
}

PreparedText prepare_text(const LoadedModel& model, const AblationText& text, const AblationRequest& request,
                          const JobControl& control) {
  try {
    if (request.calibration) {
      ChunkOptions few = request.chunks;
      few.at_most = kMostCalibrationChunks;
      PreparedText prepared{.text = read_chunks(model, text.source, request.chunks, control),
                            .calibration = read_chunks(model, *request.calibration, few, control),
                            .calibration_name = "a text of its own"};
      prepared.evaluated = prepared.text.chunks();
      return prepared;
    }
    ChunkOptions more = request.chunks;
    more.at_most += kMostCalibrationChunks;
    PreparedText prepared{.text = read_chunks(model, text.source, more, control)};
    check_apart(model, text, prepared.text);
    const int64_t there = prepared.text.chunks();
    const int64_t apart = std::clamp<int64_t>(there / 5, 1, kMostCalibrationChunks);
    prepared.evaluated = std::min(request.chunks.at_most, there - apart);
    prepared.calibration = rest_of(prepared.text, there - apart);
    prepared.calibration_name = fmt::format("its last {} of {} chunks, held apart", apart, there);
    return prepared;
  } catch (const Error& error) {
    if (error.report().where != "the text") throw;  // whoever else failed has said where
    throw error.inside(model.path().string() + ": " + text.name);
  }
}

// Nothing can be opened without a gate: what attention adds is zeroed then, so that a twin has its layers,
// too.
PlanRequest fitted_to(PlanRequest request, const ModelConfig& config) {
  if (!gate_tap(config) && request.layer_actions == std::vector<std::string>{"open"})
    request.layer_actions = {"closed"};
  return request;
}

// As many runs as there will be; what controls of open gates are scaled by is known only when gates were
// looked at.
PlanRequest with_some_means(PlanRequest request, const ModelConfig& config) {
  if (gate_tap(config)) request.gate_means.assign(static_cast<size_t>(config.layers), 0.5);
  return fitted_to(std::move(request), config);
}

bool asks_for_controls(const AblationRequest& request) {
  return std::ranges::find(request.plan.groups, "controls") != request.plan.groups.end();
}

// The last token of a chunk is predicted, not fed.
std::vector<std::vector<TokenId>> fed_sequences(const ChunkedText& text) {
  std::vector<std::vector<TokenId>> sequences;
  for (int64_t i = 0; i < text.chunks(); ++i) {
    sequences.push_back(text.chunk(i).ids);
    sequences.back().pop_back();
  }
  return sequences;
}

// Runs of noise at most: a run on a layer gets two, one on a head four (matched_noise.h).
int64_t noise_runs(const AblationPlan& plan) {
  int64_t count = 0;
  for (const PlannedRun& run : plan.runs)
    if (run.layer && run.control_of.empty()) count += run.head ? 4 : 2;
  return count;
}

std::string checksum_words(std::string_view text) {
  return fmt::format("crc32c {:08x}", crc32c(text));
}

}  // namespace

void check_ablation(const AblationRequest& request) {
  if (request.models.empty()) throw usage_error({.where = "MODEL", .what = "no model is given"});
  if (request.texts.empty()) throw usage_error({.where = "--data", .what = "no text is given"});
  int64_t inputs = request.calibration ? standard_inputs_of(*request.calibration) : 0;
  for (const AblationText& text : request.texts) inputs += standard_inputs_of(text.source);
  if (inputs > 1 || (inputs == 1 && request.models.size() > 1))
    throw usage_error({.where = "-", .what = "standard input can be read only once, for one model"});
  if (request.estimates != EstimateUse::None && request.options.dtype == DType::I8)
    throw usage_error({.where = "--estimate", .what = "nothing can be differentiated through int8 weights"});
}

int64_t runs_to_come(const AblationRequest& request, const ModelConfig& config) {
  if (request.layers_with_heads == 0) return 0;
  PlanRequest heads = request.plan;
  heads.groups = {"heads"};
  heads.head_layers = {};
  const AblationPlan of_all = make_plan(heads, config);
  std::set<int64_t> layers;  // not every layer has a gate
  for (const PlannedRun& run : of_all.runs) layers.insert(run.layer.value_or(0));
  const auto count = std::max<int64_t>(std::ssize(layers), 1);
  return std::ssize(of_all.runs) / count * std::min(request.layers_with_heads, count);
}

PreparedAblation prepare_ablation(const LoadedModel& model, const AblationRequest& request,
                                  const JobControl& control) {
  PreparedAblation prepared;
  const ModelConfig& config = model.config();
  try {
    prepared.plan = request.plan_file.empty() ? make_plan(with_some_means(request.plan, config), config)
                                              : load_plan(request.plan_file, config);
  } catch (const Error& error) {
    throw error.inside(model.path().string());
  }
  if (request.estimates == EstimateUse::Instead && !gate_tap(config))
    throw usage_error(
        {.where = model.path().string(), .what = "has no gate whose effect could be estimated"});
  for (const AblationText& text : request.texts) {
    prepared.texts.push_back(prepare_text(model, text, request, control));
    check_positions(prepared.plan, config, prepared.texts.back().text.chunk_length);
  }
  return prepared;
}

std::vector<LayerGates> measure_gates(const LoadedModel& model, const ChunkedText& text,
                                      const JobControl& control) {
  if (!gate_tap(model.config())) return {};
  const Look looked = look(model, {.text = text}, {.cancelled = control.cancelled, .log = control.log});
  const GateMeasure* gate = looked.output_gate();
  if (gate == nullptr) gate = &looked.gates.front();
  std::vector<LayerGates> layers;
  for (const GateLayer& layer : gate->layers)
    layers.push_back(
        {.layer = layer.layer, .mean = layer.values.moments().mean(), .closed = layer.values.closed()});
  return layers;
}

AblationPlan first_part(const AblationRequest& request, const PreparedAblation& prepared,
                        const std::vector<LayerGates>& gates, const ModelConfig& config) {
  if (!request.plan_file.empty()) return prepared.plan;
  PlanRequest plan = request.plan;
  plan.gate_means.assign(static_cast<size_t>(config.layers), 0.0);
  for (const LayerGates& layer : gates) plan.gate_means[static_cast<size_t>(layer.layer)] = layer.mean;
  return make_plan(fitted_to(std::move(plan), config), config);
}

std::shared_ptr<const Calibration> plan_calibration(const LoadedModel& model, const AblationPlan& plan,
                                                    const ChunkedText& text, const JobControl& control) {
  const std::vector<Intervention> interventions = all_interventions(plan, model.config());
  if (std::ranges::none_of(interventions, &Intervention::needs_calibration)) return nullptr;
  const std::vector<std::vector<TokenId>> sequences = fed_sequences(text);
  return calibrate(model.context(nullptr, Packing::Keep), model.decoder(),
                   {.interventions = interventions, .sequences = sequences},
                   {.cancelled = control.cancelled, .log = control.log});
}

void add_noise_controls(AblationPlan& plan, const LoadedModel& model, const AblationRequest& request,
                        const ChunkedText& text, const JobControl& control) {
  if (!request.plan_file.empty() || !asks_for_controls(request)) return;
  const std::vector<std::vector<TokenId>> sequences = fed_sequences(text);
  add_matched_noise(plan, model,
                    {.sequences = sequences,
                     .calibration = plan_calibration(model, plan, text, control),
                     .seed = request.plan.seed},
                    {.cancelled = control.cancelled, .log = control.log});
}

AblationPlan planned_first(const LoadedModel& model, const AblationRequest& request,
                           const PreparedAblation& prepared, const JobControl& control) {
  if (!request.plan_file.empty()) return prepared.plan;
  const ChunkedText& text = prepared.texts.front().calibration;
  const std::vector<LayerGates> gates =
      asks_for_controls(request) ? measure_gates(model, text, control) : std::vector<LayerGates>();
  AblationPlan plan = first_part(request, prepared, gates, model.config());
  add_noise_controls(plan, model, request, text, control);
  return plan;
}

AblationIdentity identity_of(const AblationRequest& request) {
  const StoppingRule& rule = request.rule;
  return {{"the number of models", std::to_string(request.models.size())},
          {"the number of texts", std::to_string(request.texts.size())},
          {"the type of weights", std::string(weight_type_name(request.options.dtype))},
          {"the seed of the order of chunks", std::to_string(request.seed)},
          {"the wanted precision", fmt::format("{} of the effect, {} nats", rule.relative, rule.absolute)},
          {"the margin", std::to_string(rule.margin)},
          {"whether every run sees every chunk", request.coverage == Coverage::Exhaustive ? "yes" : "no"},
          {"the number of layers whose heads follow", std::to_string(request.layers_with_heads)},
          {"what is estimated",
           request.estimates == EstimateUse::None
               ? "nothing"
               : fmt::format("{} chunks in {} steps{}", request.estimate_chunks, request.estimate_steps,
                             request.estimates == EstimateUse::Instead ? ", nothing is run" : "")},
          {"the prompt of samples", request.prompt.value_or("the beginning of the text")},
          {"the tokens of samples", std::to_string(request.sample_tokens)}};
}

int64_t count_comparisons(const AblationRequest& request, const PreparedAblation& prepared,
                          const ModelConfig& config) {
  if (request.estimates == EstimateUse::Instead) return 0;
  const bool noise = request.plan_file.empty() && asks_for_controls(request);
  return (std::ssize(prepared.plan.runs) + (noise ? noise_runs(prepared.plan) : 0) +
          runs_to_come(request, config)) *
         std::ssize(request.texts);
}

void add_identity(AblationIdentity& identity, size_t number, const std::string& model,
                  const PreparedAblation& prepared) {
  const std::optional<uint32_t> weights = checksum_of_source(model);
  identity.push_back({fmt::format("model {}", number + 1),
                      weights ? fmt::format("crc32 {:08x}", *weights) : std::string("not known")});
  identity.push_back(
      {fmt::format("the plan of model {}", number + 1),
       fmt::format("{} runs, {}", prepared.plan.runs.size(), checksum_words(to_json(prepared.plan).dump()))});
  for (size_t i = 0; i < prepared.texts.size(); ++i) {
    const PreparedText& text = prepared.texts[i];
    const auto described = [](const ChunkedText& chunked, int64_t chunks) {
      return fmt::format("{} chunks of {} tokens, crc32c {:08x}", chunks, chunked.chunk_length,
                         checksum_of(chunked));
    };
    identity.push_back(
        {fmt::format("text {} of model {}", i + 1, number + 1), described(text.text, text.evaluated)});
    identity.push_back({fmt::format("the calibration of text {} of model {}", i + 1, number + 1),
                        described(text.calibration, text.calibration.chunks())});
  }
}

}  // namespace sluice
