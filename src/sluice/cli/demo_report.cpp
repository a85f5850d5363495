#include "sluice/cli/demo_report.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "sluice/base/atomic_file.h"
#include "sluice/plot/figure.h"
#include "sluice/plot/training_curves.h"

namespace sluice::cli {
namespace {

using nlohmann::ordered_json;

constexpr int kWidths[] = {13, 11, 10, 9, 9,
                           9,  11, 9,  8, 11};  // of the table's columns; the first is left-aligned

double rate_of(const DemoModel& model) {
  return static_cast<double>(model.state.tokens) / model.state.seconds;
}

// A baseline has no gates, and without validation there is nothing at all.
std::string cell(const DemoModel& model, const char* key, int decimals) {
  const auto found = model.figures.find(key);
  if (found == model.figures.end() || !found->is_number()) return "-";
  return fmt::format("{:.{}f}", found->get<double>(), decimals);
}

ordered_json json_of(const DemoModel& model) {
  return {{"variant", model.variant},
          {"parameters", model.parameters},
          {"steps", model.state.step},
          {"tokens", model.state.tokens},
          {"validation", model.figures},
          {"spikes", model.state.losses.spikes},
          {"sample", model.sample},
          {"timing", {{"tokens_per_s", rate_of(model)}, {"seconds", model.state.seconds}}}};
}

std::string table_row(const std::vector<std::string>& cells) {
  std::string row;
  for (size_t i = 0; i < cells.size(); ++i)
    row += i == 0 ? fmt::format("{:<{}}", cells[i], kWidths[i]) : fmt::format("{:>{}}", cells[i], kWidths[i]);
  return row + "\n";
}

std::string curves_of(const DemoReport& report) {
  std::vector<LabelledRun> runs;
  for (const DemoModel& model : report.models)
    runs.push_back({.label = model.variant, .metrics = model.metrics});
  return svg_of(training_figure(training_curves(runs, Progression::Tokens)));
}

}  // namespace

std::vector<std::string> demo_columns() {
  return {"model",   "parameters", "val. ppl", "sink",   "floor",
          "max act", "gate mean",  "< 0.1",    "spikes", "tokens/s"};
}

std::vector<std::string> demo_row(const DemoModel& model) {
  return {model.variant,
          std::to_string(model.parameters),
          cell(model, "validation_ppl", 3),
          cell(model, "sink", 4),
          cell(model, "sink_floor", 4),
          cell(model, "max_activation", 2),
          cell(model, "gate_mean", 4),
          cell(model, "gate_below_0.1", 4),
          std::to_string(model.state.losses.spikes),
          fmt::format("{:.0f}", rate_of(model))};
}

std::vector<std::string> demo_notes(const DemoReport& report) {
  const ordered_json& figures = report.models.front().figures;
  return {fmt::format(
              "n: validation on {} sequences of {} tokens of the same synthetic text; sink, activation "
              "and gates on {} of them; one run each, so small differences mean nothing.",
              figures.value("sequences", 0), figures.value("length", 0), figures.value("pulse_sequences", 0)),
          "Most of the gap in perplexity is not the gates' work: they start at 0.5 and so halve the "
          "attention's output, from which a model of this size learns faster. A constant that does the same "
          "and sees no input gains most of it (docs/results/demo-rates.md).",
          "sink: mean attention on the first token, beside what uniform attention gives (floor). max act: "
          "largest |block output|, mean over layers. < 0.1: share of gates that are nearly closed.",
          fmt::format("Corpus: {} documents, {} tokens.", report.corpus.documents, report.corpus.tokens)};
}

std::vector<std::string> demo_next_commands(const DemoReport& report) {
  const std::string gated = report.out + "/elementwise/latest", text = report.out + "/corpus.jsonl";
  return {
      fmt::format("sluice generate {} --prompt \"{}\" --temperature 0.8", gated, report.prompt),
      fmt::format("sluice eval {} --data {}", gated, text),
      fmt::format("sluice eval {} --data {} --intervene \"attn.gate set=1\"", gated, text),
      fmt::format("sluice trace {0}/headwise/latest --prompt \"{1}\" --out {0}/trace.safetensors", report.out,
                  report.prompt),
      fmt::format("sluice plot {0}/baseline {0}/elementwise --x seconds --out {0}/speed.svg", report.out)};
}

std::string demo_text(const DemoReport& report) {
  std::string text = table_row(demo_columns());
  for (const DemoModel& model : report.models) text += table_row(demo_row(model));
  text += "\n";
  for (const std::string& note : demo_notes(report)) text += note + "\n";
  for (const DemoModel& model : report.models)
    text += fmt::format("\n[{}] {}\n", model.variant, model.sample);
  text += "\nNext:\n";
  for (const std::string& command : demo_next_commands(report)) text += fmt::format("  {}\n", command);
  return text;
}

std::string demo_json(const DemoReport& report) {
  ordered_json models = ordered_json::array();
  for (const DemoModel& model : report.models) models.push_back(json_of(model));
  const ordered_json whole = {{"out", report.out}, {"models", models}};
  return whole.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

void write_demo_report(const DemoReport& report) {
  const std::filesystem::path out = report.out;
  const std::string curves = curves_of(report);
  write_file_atomically(out / "result.json", demo_json(report));
  write_file_atomically(out / "report.txt", demo_text(report));
  write_file_atomically(out / "curves.svg", curves);
  write_file_atomically(out / "report.html", demo_html(report, curves));
}

}  // namespace sluice::cli
