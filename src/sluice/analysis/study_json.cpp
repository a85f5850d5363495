#include <nlohmann/json.hpp>

#include "sluice/analysis/gate_agreement.h"
#include "sluice/analysis/study.h"

namespace sluice {
namespace {

// Of each gate position.
nlohmann::ordered_json agreement_json(const StudiedModel& model) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (size_t i = 0; i < model.look.gates.size(); ++i)
    json[std::string(model.look.gates[i].position)] =
        to_json(agreement(model.look.gates[i], model.second->gates[i]));
  return json;
}

}  // namespace

nlohmann::ordered_json to_json(const Study& study) {
  nlohmann::ordered_json models = nlohmann::ordered_json::array();
  for (const StudiedModel& model : study.models) {
    nlohmann::ordered_json json = {{"name", model.name}, {"parameters", model.parameters}};
    json.update(to_json(model.look));
    if (!model.prompt.ids.empty()) json["prompt"] = to_json(model.prompt);
    if (model.lens) json["lens"] = to_json(*model.lens);
    if (model.types) json["input_types"] = to_json(*model.types);
    if (model.second) json["second_text"] = to_json(*model.second);
    if (model.second) json["texts_agree"] = agreement_json(model);
    if (model.first_words) json["first_words"] = to_json(*model.first_words);
    models.push_back(std::move(json));
  }
  return {{"interventions", study.interventions}, {"models", std::move(models)}};
}

}  // namespace sluice
