// The demo's result for a terminal and for programs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sluice/report/demo_report.h"
#include "sluice/report/nursery_report.h"
#include "sluice/report/terminal_table.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

ordered_json json_of(const DemoModel& model) {
  ordered_json json = {{"variant", model.variant}, {"parameters", model.parameters}};
  json.update(figures_json(model.outcome));
  json["sample"] = demo_sample(model);
  json["timing"] = timing_json(model.outcome);
  return json;
}

}  // namespace

std::string to_text(const DemoResult& result) {
  std::string text = "1. A nursery where a sink grows\n\n" + to_text(result.nursery) +
                     "\n2. A baseline and two gated models on made-up text\n\n" +
                     terminal_table(demo_table(result)) + "\n";
  for (const std::string& note : demo_notes(result)) text += note + "\n";
  for (const DemoModel& model : result.models)
    text += fmt::format("\n[{}] {}\n", model.variant, demo_sample(model));
  text += "\n3. What breaks\n\n" + to_text(result.broken);
  text += "\nNext:\n";
  for (const std::string& command : demo_next_commands(result)) text += fmt::format("  {}\n", command);
  return text;
}

ordered_json to_json(const DemoResult& result) {
  ordered_json models = ordered_json::array();
  for (const DemoModel& model : result.models) models.push_back(json_of(model));
  return {{"out", result.out.string()},
          {"models", models},
          {"nursery", to_json(result.nursery)},
          {"broken", {{"nursery", to_json(result.broken.nursery)}, {"text", to_json(result.broken.text)}}}};
}

}  // namespace sluice
