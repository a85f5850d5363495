#include "sluice/ablate/ablation_preparation.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "sluice/ablate/matched_noise.h"
#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"
#include "sluice/eval/calibration_text.h"

namespace sluice {
namespace {

// As many runs as there will be; what controls of open gates are scaled by is known only when gates were
// looked at.
PlanRequest with_some_means(PlanRequest request, const ModelConfig& config) {
  if (gate_tap(config)) request.gate_means.assign(static_cast<size_t>(config.layers), 0.5);
  return request;
}

bool asks_for_controls(const AblationRequest& request) {
  return std::ranges::find(request.plan.groups, "controls") != request.plan.groups.end();
}

std::string checksum_words(std::string_view text) {
  return fmt::format("crc32c {:08x}", crc32c(text));
}

// A usage error for a directory that is there twice, under whatever name.
void check_models_differ(const std::vector<std::string>& models) {
  for (size_t i = 0; i < models.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      std::error_code error;  // what is not there is said when it is loaded
      if (models[i] != models[j] && !std::filesystem::equivalent(models[i], models[j], error)) continue;
      throw usage_error({.where = "MODEL",
                         .what = models[i] == models[j]
                                     ? fmt::format("{} is given twice", models[i])
                                     : fmt::format("{} and {} are the same", models[j], models[i])});
    }
  }
}

// What samples begin with is read before anything runs, although they come last.
void check_prompt(const LoadedModel& model, const AblationRequest& request) {
  if (!request.prompt || request.sample_tokens == 0) return;
  if (!model.has_tokenizer())
    throw usage_error({.where = "--prompt",
                       .what = fmt::format("{} has no tokenizer to read it with", model.path().string()),
                       .hint = "--tokenizer gives one; without --prompt no samples are written"});
  if (model.encode(*request.prompt).empty())
    throw usage_error(
        {.where = "--prompt", .what = fmt::format("has no tokens for {}", model.path().string())});
}

// Bad input that names the file, for a plan that is one.
void check_plan_positions(const LoadedModel& model, const AblationRequest& request,
                          const PreparedAblation& prepared) {
  try {
    for (const PreparedText& text : prepared.texts)
      check_positions(prepared.plan, prepared.config, text.text.chunk_length);
  } catch (const Error& error) {
    if (request.plan_file.empty()) throw error.inside(model.path().string());
    throw bad_input(error.report()).inside(request.plan_file.string()).inside(model.path().string());
  }
}

}  // namespace

void check_ablation(const AblationRequest& request) {
  if (request.models.empty()) throw usage_error({.where = "MODEL", .what = "no model is given"});
  check_models_differ(request.models);
  if (request.texts.empty()) throw usage_error({.where = "--data", .what = "no text is given"});
  check_sources(request);
  if (request.prompt && request.prompt->empty())
    throw usage_error({.where = "--prompt",
                       .what = "is empty",
                       .hint = "without it samples go on from the beginning of the text"});
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
  PreparedAblation prepared{.config = model.config()};
  const ModelConfig& config = prepared.config;
  try {
    prepared.plan = request.plan_file.empty() ? make_plan(with_some_means(request.plan, config), config)
                                              : load_plan(request.plan_file, config);
  } catch (const Error& error) {
    throw error.inside(model.path().string());
  }
  if (request.estimates == EstimateUse::Instead && !gate_tap(config))
    throw usage_error(
        {.where = model.path().string(), .what = "has no gate whose effect could be estimated"});
  check_prompt(model, request);
  prepared.texts = prepare_texts(model, request, control);
  check_plan_positions(model, request, prepared);
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

std::shared_ptr<const Calibration> plan_calibration(const LoadedModel& model, const AblationPlan& plan,
                                                    const ChunkedText& text, const JobControl& control) {
  const std::vector<Intervention> interventions = all_interventions(plan, model.config());
  if (std::ranges::none_of(interventions, &Intervention::needs_calibration)) return nullptr;
  const std::vector<std::vector<TokenId>> sequences = fed_sequences(text);
  return calibrate(model.context(nullptr, Packing::Keep), model.decoder(),
                   {.interventions = interventions, .sequences = sequences},
                   {.cancelled = control.cancelled, .log = control.log});
}

void complete_plan(PreparedAblation& prepared, const LoadedModel& model, const AblationRequest& request,
                   const JobControl& control) {
  const ChunkedText& text = prepared.texts.front().calibration;
  prepared.gates = measure_gates(model, text, control);
  // A file has the sizes of all controls in it.
  if (!request.plan_file.empty() || !asks_for_controls(request) || request.estimates == EstimateUse::Instead)
    return;
  PlanRequest plan = request.plan;
  plan.gate_means.assign(static_cast<size_t>(prepared.config.layers), 0.0);
  for (const LayerGates& layer : prepared.gates)
    plan.gate_means[static_cast<size_t>(layer.layer)] = layer.mean;
  prepared.plan = make_plan(plan, prepared.config);
  const std::vector<std::vector<TokenId>> sequences = fed_sequences(text);
  add_matched_noise(prepared.plan, model,
                    {.sequences = sequences,
                     .calibration = plan_calibration(model, prepared.plan, text, control),
                     .seed = request.plan.seed},
                    {.cancelled = control.cancelled, .log = control.log});
}

JobIdentity identity_of(const AblationRequest& request, const Engine& engine) {
  const StoppingRule& rule = request.rule;
  return {build_identity(),
          {"the number of models", std::to_string(request.models.size())},
          {"the number of texts", std::to_string(request.texts.size())},
          {"the type of weights", std::string(weight_type_name(request.options.dtype))},
          {"the instruction set", std::string(name_of(engine.isa().isa))},
          {"the calibration text", request.calibration ? kOwnCalibration : "the end of each text"},
          {"the seed of the order of chunks", std::to_string(request.seed)},
          {"the wanted precision", fmt::format("{} of the effect, {} nats", rule.relative, rule.absolute)},
          {"the margin", std::to_string(rule.margin)},
          {"whether every run sees every chunk", request.coverage == Coverage::Exhaustive ? "yes" : "no"},
          {"whether anything is run", request.estimates == EstimateUse::Instead ? "no" : "yes"}};
}

int64_t comparisons_of(const AblationRequest& request, const PreparedAblation& prepared) {
  if (request.estimates == EstimateUse::Instead) return 0;
  const AblationPlan& plan = prepared.plan;
  std::set<std::vector<std::string>> different;
  for (const PlannedRun& run : plan.runs) different.insert(run.interventions);
  for (const PlannedRun& run : heads_that_follow(plan, {}, prepared.config))
    different.insert(run.interventions);
  // The first of the heads in their order is a head that was closed alone.
  const int64_t in_order = std::max<int64_t>(first_heads_to_come(plan, prepared.config) - 1, 0);
  const std::vector<size_t> equal = equal_runs(plan);
  std::set<std::pair<size_t, size_t>> pairs;  // of a run and its control
  std::set<size_t> sinks;
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const PlannedRun& run = plan.runs[i];
    if (!run.control_of.empty()) {
      const auto of = static_cast<size_t>(plan.find(run.control_of) - plan.runs.data());
      pairs.emplace(equal[of], equal[i]);
    }
    if (asks_about_the_sink(run)) sinks.insert(equal[i]);
  }
  return (std::ssize(different) + in_order + std::ssize(pairs) + std::ssize(sinks)) *
         std::ssize(request.texts);
}

std::string left_out_words(const AblationRequest& request, const ModelConfig& config) {
  if (!request.plan_file.empty() || request.estimates == EstimateUse::Instead) return {};
  const std::vector<std::string> actions = actions_left_out(request.plan, config);
  if (actions.empty()) return {};
  return fmt::format("there is no gate, so {} {} left out", fmt::join(actions, ", "),
                     actions.size() == 1 ? "is" : "are");
}

void add_identity(JobIdentity& identity, size_t number, const PreparedAblation& prepared) {
  identity.push_back(
      {fmt::format("model {}", number + 1),
       prepared.weights ? fmt::format("crc32 {:08x}", *prepared.weights) : std::string("not known")});
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
