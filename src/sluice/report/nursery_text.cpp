// The nursery for a terminal and for programs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sluice/report/nursery_findings.h"
#include "sluice/report/nursery_report.h"
#include "sluice/report/terminal_table.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

ordered_json attention_of(const Look& look) {
  ordered_json layers = ordered_json::array();
  for (const AttentionLayer& layer : look.attention) {
    ordered_json heads = ordered_json::array();
    for (const AttentionHead& head : layer.by_head) heads.push_back(head.key.mean());
    layers.push_back({{"layer", layer.layer}, {"sink", layer.all().mean()}, {"heads", std::move(heads)}});
  }
  return layers;
}

ordered_json json_of_model(const NurseryModel& model, const StudiedModel& studied) {
  const Look& look = studied.look;
  ordered_json json = {{"variant", model.variant}, {"parameters", studied.parameters}};
  json.update(figures_json(model.outcome));
  json["score"] = to_json(model.score);
  json["sequences"] = look.sequences;
  json["length"] = look.length;
  json["sink"] = to_json(look.sink);
  json["sink_floor"] = look.key_floor;
  json["layers"] = attention_of(look);
  json["max_activation"] = to_json(look.activations.front().of_sequences);
  if (!look.gates.empty()) json["gate_mean"] = to_json(look.gates.front().mean);
  json["timing"] = timing_json(model.outcome);
  return json;
}

ordered_json json_of_seeds(const ExperimentResult& seeds) {
  ordered_json differences = ordered_json::array();
  for (const PlannedVariant& variant : seeds.variants) {
    if (!is_compared(seeds, variant)) continue;
    ordered_json& json = differences.emplace_back(ordered_json{{"variant", variant.point.name()}});
    for (const ExperimentFigure& figure : experiment_figures())
      if (figure.is_compared)
        json[figure.key] =
            to_json(planned_difference(seeds, variant, figure.value), possible_differences(figure));
  }
  return {{"runs", seeds.runs.size()}, {"differences", std::move(differences)}};
}

ordered_json json_of_findings(const std::vector<Finding>& findings) {
  ordered_json json = ordered_json::array();
  for (const Finding& finding : findings)
    json.push_back({{"verdict", name_of(finding.verdict)}, {"text", finding.text}});
  return json;
}

}  // namespace

std::string to_text(const NurseryResult& result) {
  const ExperimentResult& seeds = result.seeds;
  std::string text = nursery_introduction(result) + "\n\n" + terminal_table(nursery_models(result)) + "\n" +
                     nursery_answer(result).text + "\n";
  if (const std::string longer = nursery_longer(result); !longer.empty()) text += longer + "\n";
  for (const Finding& finding : pair_findings(result)) text += finding.text + "\n";
  for (const std::string& note : nursery_notes(result)) text += note + "\n";
  text += "\nThe same with other seeds\n\n" + terminal_table(nursery_seed_means(result.pair, seeds)) + "\n";
  for (const Finding& finding : seed_findings(result.pair, seeds)) text += finding.text + "\n";
  return text + nursery_seed_note(result.pair, seeds) + "\n";
}

ordered_json to_json(const NurseryResult& result) {
  ordered_json models = ordered_json::array();
  for (size_t i = 0; i < result.models.size(); ++i)
    models.push_back(json_of_model(result.models[i], result.studied(i)));
  const Finding answer = nursery_answer(result);
  return {{"pair", result.pair.stem},
          {"chain_seed", result.text.chain_seed},
          {"documents", result.text.info.documents},
          {"limits",
           {{"copy_accuracy", NurseryLimits::kSolved},
            {"sink_times_floor", kSinkTimesUniform},
            {"equal_loss", NurseryLimits::kEqualLoss}}},
          {"counts", counts(result)},
          {"verdict", name_of(answer.verdict)},
          {"text", answer.text},
          {"findings", json_of_findings(pair_findings(result))},
          {"models", std::move(models)},
          {"seeds", json_of_seeds(result.seeds)},
          {"timing", {{"seconds", result.seconds}}}};
}

}  // namespace sluice
