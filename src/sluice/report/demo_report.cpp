#include "sluice/report/demo_report.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "sluice/base/assert.h"
#include "sluice/base/atomic_file.h"
#include "sluice/base/json_text.h"
#include "sluice/plot/figure.h"
#include "sluice/plot/training_curves.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

constexpr int kWidths[] = {13, 11, 10, 9, 9,
                           9,  11, 9,  8, 11};  // of the table's columns; the first is left-aligned

// The demo's runs validate after their last step.
const Validation& validation_of(const DemoModel& model) {
  SLUICE_ASSERT(model.outcome.validation.has_value(), "demo report: {} was not validated", model.variant);
  return *model.outcome.validation;
}

// A baseline has no gates.
std::string gate_cell(const Pulse& pulse, double value) {
  return pulse.gated ? fmt::format("{:.4f}", value) : "-";
}

ordered_json json_of(const DemoModel& model) {
  ordered_json json = {{"variant", model.variant}, {"parameters", model.parameters}};
  json.update(figures_json(model.outcome));
  json["sample"] = demo_sample(model);
  json["timing"] = timing_json(model.outcome);
  return json;
}

std::string table_row(const std::vector<std::string>& cells) {
  std::string row;
  for (size_t i = 0; i < cells.size(); ++i)
    row += i == 0 ? fmt::format("{:<{}}", cells[i], kWidths[i]) : fmt::format("{:>{}}", cells[i], kWidths[i]);
  return row + "\n";
}

std::string curves_of(const DemoResult& result) {
  std::vector<LabelledRuns> runs;
  for (const DemoModel& model : result.models)
    runs.push_back({.label = model.variant, .runs = {model.metrics}});
  return svg_of(training_figure(training_curves(runs, Progression::Tokens)));
}

}  // namespace

std::string demo_sample(const DemoModel& model) {
  return validation_of(model).sample.value_or("");
}

std::vector<std::string> demo_columns() {
  return {"model",   "parameters", "val. ppl", "sink",   "floor",
          "max act", "gate mean",  "< 0.1",    "spikes", "tokens/s"};
}

std::vector<std::string> demo_row(const DemoModel& model) {
  const Validation& validation = validation_of(model);
  const Pulse& pulse = validation.pulse;
  return {model.variant,
          std::to_string(model.parameters),
          fmt::format("{:.3f}", validation.ppl()),
          fmt::format("{:.4f}", pulse.sink),
          fmt::format("{:.4f}", pulse.sink_floor),
          fmt::format("{:.2f}", pulse.max_activation),
          gate_cell(pulse, pulse.gate_mean),
          gate_cell(pulse, pulse.gate_closed),
          std::to_string(model.outcome.state.losses.spikes),
          fmt::format("{:.0f}", model.outcome.tokens_per_s())};
}

std::vector<std::string> demo_notes(const DemoResult& result) {
  const Validation& validation = validation_of(result.models.front());
  return {
      fmt::format("n: validation on {} sequences of {} tokens of the same synthetic text; sink, activation "
                  "and gates on {} of them; one run each, so small differences mean nothing.",
                  validation.sequences, validation.length, validation.pulse.sequences),
      "Most of the gap in perplexity is not the gates' work: they start at 0.5 and so halve the "
      "attention's output, from which a model of this size learns faster. A constant that does the same "
      "and sees no input gains most of it (docs/results/demo-rates.md).",
      "sink: mean attention on the first token, beside what uniform attention gives (floor). max act: "
      "largest |block output|, mean over layers. < 0.1: share of gates that are nearly closed.",
      fmt::format("Corpus: {} documents, {} tokens.", result.corpus.documents, result.corpus.tokens)};
}

std::vector<std::string> demo_next_commands(const DemoResult& result) {
  const std::string out = result.out.string();
  const std::string gated = out + "/elementwise/latest", text = out + "/corpus.jsonl";
  return {fmt::format("sluice generate {} --prompt \"{}\" --temperature 0.8", gated, result.prompt),
          fmt::format("sluice eval {} --data {}", gated, text),
          fmt::format("sluice eval {} --data {} --intervene \"attn.gate set=1\"", gated, text),
          fmt::format("sluice trace {0}/headwise/latest --prompt \"{1}\" --out {0}/trace.safetensors", out,
                      result.prompt),
          fmt::format("sluice plot {0}/baseline {0}/elementwise --x seconds --out {0}/speed.svg", out)};
}

std::string to_text(const DemoResult& result) {
  std::string text = table_row(demo_columns());
  for (const DemoModel& model : result.models) text += table_row(demo_row(model));
  text += "\n";
  for (const std::string& note : demo_notes(result)) text += note + "\n";
  for (const DemoModel& model : result.models)
    text += fmt::format("\n[{}] {}\n", model.variant, demo_sample(model));
  text += "\nNext:\n";
  for (const std::string& command : demo_next_commands(result)) text += fmt::format("  {}\n", command);
  return text;
}

ordered_json to_json(const DemoResult& result) {
  ordered_json models = ordered_json::array();
  for (const DemoModel& model : result.models) models.push_back(json_of(model));
  return {{"out", result.out.string()}, {"models", models}};
}

void write_demo_report(const DemoResult& result) {
  const std::filesystem::path out = result.out;
  const std::string curves = curves_of(result);
  write_file_atomically(out / "result.json", pretty_text(to_json(result)));
  write_file_atomically(out / "report.txt", to_text(result));
  write_file_atomically(out / "curves.svg", curves);
  write_file_atomically(out / "report.html", demo_html(result, curves));
}

}  // namespace sluice
