#include "sluice/ablate/ablation_preparation.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "sluice/ablate/matched_noise.h"
#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"
#include "sluice/eval/calibration_text.h"
#include "sluice/model/model_checksum.h"

namespace sluice {
namespace {

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
  for (const std::string& model : request.models)
    if (std::ranges::count(request.models, model) > 1)
      throw usage_error({.where = "MODEL", .what = model + " is given twice"});
  if (request.texts.empty()) throw usage_error({.where = "--data", .what = "no text is given"});
  check_sources(request);
  if (request.estimates != EstimateUse::None && request.options.dtype == DType::I8)
    throw usage_error({.where = "--estimate", .what = "nothing can be differentiated through int8 weights"});
}

int64_t runs_to_come(const AblationPlan& plan, const ModelConfig& config) {
  const std::vector<PlannedRun> of_all = heads_that_follow(plan, {}, config);
  std::set<int64_t> layers;  // not every layer has a gate
  for (const PlannedRun& run : of_all) layers.insert(run.layer.value_or(0));
  if (layers.empty()) return 0;
  return std::ssize(of_all) / std::ssize(layers) * std::min(plan.then->layers, std::ssize(layers));
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
  prepared.texts = prepare_texts(model, request, control);
  for (const PreparedText& text : prepared.texts)
    check_positions(prepared.plan, config, text.text.chunk_length);
  if (request.estimates != EstimateUse::Instead)
    check_calibration_of(prepared.texts, request, all_interventions(prepared.plan, config));
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

JobIdentity identity_of(const AblationRequest& request, const Engine& engine) {
  const StoppingRule& rule = request.rule;
  return {{"the number of models", std::to_string(request.models.size())},
          {"the number of texts", std::to_string(request.texts.size())},
          {"the type of weights", std::string(weight_type_name(request.options.dtype))},
          {"the instruction set", std::string(name_of(engine.isa().isa))},
          {"the calibration text", request.calibration ? "a text of its own" : "the end of each text"},
          {"the seed of the order of chunks", std::to_string(request.seed)},
          {"the wanted precision", fmt::format("{} of the effect, {} nats", rule.relative, rule.absolute)},
          {"the margin", std::to_string(rule.margin)},
          {"whether every run sees every chunk", request.coverage == Coverage::Exhaustive ? "yes" : "no"},
          {"what is estimated",
           request.estimates == EstimateUse::None
               ? "nothing"
               : fmt::format("{} chunks in {} steps{}", request.estimate_chunks, request.estimate_steps,
                             request.estimates == EstimateUse::Instead ? ", nothing is run" : "")},
          {"the prompt of samples", request.prompt.value_or("the beginning of the text")},
          {"the tokens of samples", std::to_string(request.sample_tokens)}};
}

int64_t comparisons_of(const AblationRequest& request, const PreparedAblation& prepared,
                       const ModelConfig& config) {
  if (request.estimates == EstimateUse::Instead) return 0;
  const AblationPlan& plan = prepared.plan;
  const bool noise = request.plan_file.empty() && asks_for_controls(request);
  const int64_t noises = noise ? noise_runs(plan) : 0;
  const std::vector<size_t> equal = equal_runs(plan);
  const int64_t different = std::ssize(std::set<size_t>(equal.begin(), equal.end()));
  int64_t count = different + std::ssize(heads_that_follow(plan, {}, config)) +
                  first_heads_to_come(plan, config) + 2 * noises;
  for (const PlannedRun& run : plan.runs)
    count += (run.control_of.empty() ? 0 : 1) + (asks_about_the_sink(run) ? 1 : 0);
  return count * std::ssize(request.texts);
}

void add_identity(JobIdentity& identity, size_t number, const std::string& model,
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
