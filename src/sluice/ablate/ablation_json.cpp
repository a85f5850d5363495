// An ablation's result as JSON. Nothing in it depends on the machine's speed or on where a run was
// interrupted.
#include <nlohmann/json.hpp>

#include "sluice/ablate/ablation_analysis.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

ordered_json json_of(const RunEffect& effect) {
  if (!effect.finite)
    return {{"verdict", name_of(effect.verdict)}, {"reason", effect.reason}, {"chunks", effect.chunks}};
  ordered_json json = {{"verdict", name_of(effect.verdict)}};
  if (!effect.reason.empty()) json["reason"] = effect.reason;
  json.update({{"chunks", effect.chunks},
               {"tokens", effect.tokens},
               {"nll_change", to_json(effect.nll)},
               {"simultaneous_interval", to_json(effect.sequence)},
               {"ppl", effect.ppl},
               {"ppl_ratio", to_json(effect.ppl_ratio)},
               {"kl", effect.kl},
               {"changed_top1", effect.changed_top1},
               {"sink_change", to_json(effect.sink)},
               {"largest_activation_change", to_json(effect.activation)},
               {"p", effect.p},
               {"corrected_p", effect.corrected_p}});
  return json;
}

ordered_json json_of(const PlaceEffect& place) {
  ordered_json json = {{"layer", place.layer}};
  if (place.head) json["head"] = *place.head;
  json.update({{"nll_change", place.nll},
               {"nll_change_ci95", to_json(place.nll_ci95)},
               {"ppl_change", place.ppl},
               {"ppl_change_ci95", to_json(place.ppl_ci95)},
               {"nll_share", place.nll_share},
               {"nll_share_ci95", to_json(place.nll_share_ci95)},
               {"ppl_share", place.ppl_share},
               {"ppl_share_ci95", to_json(place.ppl_share_ci95)}});
  return json;
}

ordered_json json_of(const LayerSensitivity& layers) {
  ordered_json by_layer = ordered_json::array(), outliers = ordered_json::array();
  for (size_t i = 0; i < layers.layers.size(); ++i) {
    by_layer.push_back(
        {{"layer", layers.layers[i]}, {"closed", layers.closed[i]}, {"nll_change", layers.nll[i]}});
    by_layer.back()["nll_change_ci95"] = to_json(layers.nll_ci95[i]);
    if (layers.statistics.influence.empty()) continue;
    by_layer.back()["leverage"] = layers.statistics.influence[i].leverage;
    by_layer.back()["cook"] = layers.statistics.influence[i].cook;
  }
  for (const size_t i : layers.statistics.outliers) outliers.push_back(layers.layers[i]);
  return {{"action", layers.action},
          {"all", to_json(layers.statistics.all)},
          {"cook_threshold", layers.statistics.threshold},
          {"outliers", std::move(outliers)},
          {"without_outliers", to_json(layers.statistics.without)},
          {"layers", std::move(by_layer)}};
}

// The places of every action of a group, on the chunks that they have in common.
ordered_json profiles_json(const AblatedModel& model, const AblatedText& text, std::string_view group) {
  ordered_json json = ordered_json::array();
  for (const std::string& action : actions_of(model.plan, group)) {
    const EffectProfile profile = effect_profile(model, text, group, action, ProfileIntervals::Bootstrap);
    if (profile.is_empty()) continue;
    ordered_json places = ordered_json::array();
    for (const PlaceEffect& place : profile.places) places.push_back(json_of(place));
    json.push_back({{"action", action}, {"common_chunks", profile.chunks}, {"places", std::move(places)}});
  }
  return json;
}

// Runs beside their controls, with a verdict each.
ordered_json controls_json(const AblatedModel& model, const AblatedText& text, const StoppingRule& rule) {
  ordered_json json = ordered_json::array();
  for (const ControlPair& pair : control_pairs(model, text, rule))
    json.push_back({{"run", model.plan.runs[pair.run].name},
                    {"control", model.plan.runs[pair.control].name},
                    {"verdict", name_of(pair.verdict)},
                    {"chunks", pair.chunks},
                    {"run_nll_change", pair.run_nll},
                    {"control_nll_change", pair.control_nll},
                    {"difference", to_json(pair.difference)},
                    {"simultaneous_interval", to_json(pair.sequence)}});
  return json;
}

ordered_json json_of(const AblatedModel& model, const AblatedText& text, const StoppingRule& rule) {
  ordered_json runs = ordered_json::array(), sensitivities = ordered_json::array();
  const std::vector<size_t> equal = equal_runs(model.plan);
  for (size_t i = 0; i < text.effects.size(); ++i) {
    ordered_json run = to_json(model.plan.runs[i]);
    if (equal[i] != i) run["same_as"] = model.plan.runs[equal[i]].name;
    run.update(json_of(text.effects[i]));
    if (asks_about_the_sink(model.plan.runs[i]) && text.effects[i].finite)
      run["sink_simultaneous_interval"] = to_json(text.effects[i].sink_sequence);
    runs.push_back(std::move(run));
  }
  for (const std::string& action : actions_of(model.plan, "layers"))
    if (const auto layers = layer_sensitivity(model, text, action)) sensitivities.push_back(json_of(*layers));
  ordered_json json = {{"name", text.name},
                       {"chunks", text.chunks},
                       {"chunk_length", text.chunk_length},
                       {"calibration", text.calibration},
                       {"warnings", text.warnings}};
  if (!text.effects.empty())
    json["base"] = {{"chunks", std::ssize(text.base_by_chunk)},
                    {"nll", text.base.nll},
                    {"ppl", text.base.ppl},
                    {"ci95", to_json(text.base.ci95)},
                    {"sink", text.base_sink},
                    {"largest_activation", text.base_activation}};
  json.update({{"runs", std::move(runs)},
               {"layers", profiles_json(model, text, "layers")},
               {"heads", profiles_json(model, text, "heads")},
               {"controls", controls_json(model, text, rule)},
               {"sensitivity", std::move(sensitivities)}});
  return json;
}

ordered_json agreements_json(const AblatedModel& model) {
  ordered_json json = ordered_json::array();
  for (const EstimateComparison& comparison : compare_estimates(model)) {
    json.push_back({{"tap", comparison.tap},
                    {"action", comparison.action},
                    {"method", name_of(comparison.method)},
                    {"of", comparison.of_heads ? "heads" : "layers"}});
    json.back().update(to_json(comparison.agreement));
    if (comparison.method != EstimateMethod::Integrated) continue;
    json.back()["sum_of_shares"] = comparison.all_estimated;
    json.back()["joint_change"] = comparison.all_exact ? ordered_json(*comparison.all_exact) : nullptr;
  }
  return json;
}

ordered_json json_of(const AblatedModel& model, const StoppingRule& rule) {
  ordered_json texts = ordered_json::array(), gates = ordered_json::array(), samples = ordered_json::array();
  for (const AblatedText& text : model.texts) texts.push_back(json_of(model, text, rule));
  for (const LayerGates& layer : model.gates)
    gates.push_back({{"layer", layer.layer}, {"mean", layer.mean}, {"closed", layer.closed}});
  for (const BrokenSample& sample : model.samples)
    samples.push_back({{"run", sample.run.empty() ? "unbroken" : sample.run}, {"text", sample.text}});
  ordered_json json = {
      {"name", model.name},        {"path", model.path},       {"parameters", model.parameters},
      {"layers", model.layers},    {"heads", model.heads},     {"gated", model.gated},
      {"gates", std::move(gates)}, {"texts", std::move(texts)}};
  if (model.estimates) {
    json["estimates"] = to_json(*model.estimates);
    json["estimates_against_exact"] = agreements_json(model);
  }
  json["prompt"] = model.prompt;
  json["samples"] = std::move(samples);
  return json;
}

}  // namespace

ordered_json to_json(const AblationResult& result) {
  ordered_json models = ordered_json::array();
  for (const AblatedModel& model : result.models) models.push_back(json_of(model, result.rule));
  return {{"rule",
           {{"relative_precision", result.rule.relative},
            {"absolute_precision", result.rule.absolute},
            {"margin", result.rule.margin},
            {"error", result.rule.error},
            {"comparisons", result.rule.comparisons},
            {"exhaustive", result.coverage == Coverage::Exhaustive},
            {"seed", result.seed}}},
          {"models", std::move(models)}};
}

}  // namespace sluice
