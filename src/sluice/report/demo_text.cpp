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
  std::string text;
  int exhibit = 0;
  for (const NurseryResult& nursery : result.nurseries)
    text += fmt::format("{}. {}\n\n{}\n", ++exhibit, nursery.pair.title, to_text(nursery));
  text += fmt::format("{}. A baseline and two gated models on made-up text\n\n{}\n", ++exhibit,
                      terminal_table(demo_table(result)));
  for (const std::string& note : demo_notes(result)) text += note + "\n";
  for (const DemoModel& model : result.models)
    text += fmt::format("\n[{}] {}\n", model.variant, demo_sample(model));
  text += fmt::format("\n{}. What breaks\n\n{}", ++exhibit, to_text(result.broken));
  text += "\nNext:\n";
  for (const std::string& command : demo_next_commands(result)) text += fmt::format("  {}\n", command);
  return text;
}

ordered_json to_json(const DemoResult& result) {
  ordered_json models = ordered_json::array();
  for (const DemoModel& model : result.models) models.push_back(json_of(model));
  ordered_json nurseries = ordered_json::array();
  for (const NurseryResult& nursery : result.nurseries) nurseries.push_back(to_json(nursery));
  return {{"out", result.out.string()},
          {"models", models},
          {"nurseries", std::move(nurseries)},
          {"broken", {{"nursery", to_json(result.broken.nursery)}, {"text", to_json(result.broken.text)}}}};
}

}  // namespace sluice
