#include "sluice/report/demo_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>

#include "sluice/base/assert.h"
#include "sluice/base/atomic_file.h"
#include "sluice/plot/training_curves.h"
#include "sluice/report/nursery_report.h"
#include "sluice/report/report_header.h"
#include "sluice/report/validations_table.h"
#include "sluice/report/write_report.h"

namespace sluice {
namespace {

constexpr int kDemoSeed = 1;  // of every run, as demo.cpp sets it

// The demo's runs validate after their last step.
const Validation& last_validation(const DemoModel& model) {
  SLUICE_ASSERT(model.outcome.validation.has_value(), "demo report: {} was not validated", model.variant);
  return *model.outcome.validation;
}

NumberFormat decimals(int digits) {
  return {.style = NumberStyle::Fixed, .digits = digits};
}

std::vector<TableColumn> demo_table_columns() {
  return {{.name = "model", .kind = ColumnKind::Text},
          {.name = "parameters"},
          {.name = "val. ppl",
           .key = "validation_ppl",
           .note = "perplexity on held-out text",
           .format = decimals(3)},
          {.name = "sink", .note = "mean attention on the first token", .format = decimals(4)},
          {.name = "floor",
           .key = "sink_floor",
           .note = "what uniform attention would put on the first token",
           .format = decimals(4)},
          {.name = "max act",
           .key = "max_activation",
           .note = "largest |block output|, mean over layers",
           .format = decimals(2)},
          {.name = "gate mean", .key = "gate_mean", .format = decimals(4)},
          {.name = "< 0.1",
           .key = "gate_below_0.1",
           .note = "share of gates that are nearly closed",
           .format = decimals(4)},
          {.name = "spikes", .note = "steps whose loss jumped"},
          {.name = "tokens/s", .key = "tokens_per_s", .format = decimals(0)}};
}

std::vector<TableCell> demo_table_row(const DemoModel& model) {
  const Validation& validation = last_validation(model);
  const Pulse& pulse = validation.pulse;
  // A baseline has no gates.
  const auto of_gates = [&](double value) { return pulse.gated ? TableCell(value) : TableCell(Missing{}); };
  return {model.variant,
          model.parameters,
          validation.ppl(),
          pulse.sink,
          pulse.sink_floor,
          pulse.max_activation,
          of_gates(pulse.gate_mean),
          of_gates(pulse.gate_closed),
          model.outcome.state.losses.spikes,
          model.outcome.tokens_per_s()};
}

ReportFigure demo_curves(const DemoResult& result) {
  std::vector<LabelledRuns> runs;
  for (const DemoModel& model : result.models)
    runs.push_back({.label = model.variant, .runs = {model.metrics}});
  return {.stem = "curves",
          .figure = training_figure(training_curves(runs, Progression::Tokens)),
          .caption = "One run of each model. The losses of single steps are in the metrics.jsonl of each.",
          .table = "validations"};
}

Table demo_validations(const DemoResult& result) {
  std::vector<SeededRun> runs;
  for (const DemoModel& model : result.models)
    runs.push_back({.label = model.variant, .seed = kDemoSeed, .metrics = model.metrics});
  return validations_table(runs);
}

// One run of each: whatever the difference, its interval is not known.
std::vector<ReportBlock> demo_findings(const DemoResult& result) {
  const DemoModel& baseline = result.models.front();
  std::vector<ReportBlock> findings;
  for (const DemoModel& model : std::span(result.models).subspan(1)) {
    findings.push_back(finding_of({.what = "validation loss",
                                   .subject = model.variant,
                                   .against = baseline.variant,
                                   .value = last_validation(model).loss - last_validation(baseline).loss,
                                   .n = 1,
                                   .counted = "seeds",
                                   .limits = "sluice sweep trains several seeds."}));
  }
  return findings;
}

Section comparison_section(const DemoResult& result) {
  Section section{.title = "Three models of text: what tells them apart",
                  .anchor = "text",
                  .blocks = {demo_table(result)}};
  for (ReportBlock& finding : demo_findings(result)) section.blocks.push_back(std::move(finding));
  for (std::string& note : demo_notes(result)) section.blocks.push_back(Note{std::move(note)});
  return section;
}

Section samples_section(const DemoResult& result) {
  Section section{.title = fmt::format("What they write after \"{}\"", result.prompt), .anchor = "samples"};
  for (const DemoModel& model : result.models)
    section.blocks.push_back(Preformatted{.text = demo_sample(model), .label = model.variant});
  return section;
}

Section next_section(const DemoResult& result) {
  std::string lines;
  for (const std::string& command : demo_next_commands(result)) lines += command + "\n";
  return {.title = "Next", .blocks = {Preformatted{.text = lines}}};
}

}  // namespace

Table demo_table(const DemoResult& result) {
  Table table{.name = "models", .columns = demo_table_columns()};
  for (const DemoModel& model : result.models) table.rows.push_back(demo_table_row(model));
  return table;
}

std::string demo_sample(const DemoModel& model) {
  return last_validation(model).sample.value_or("");
}

std::vector<std::string> demo_notes(const DemoResult& result) {
  const Validation& validation = last_validation(result.models.front());
  return {
      fmt::format("n: validation on {} sequences of {} tokens of the same synthetic text; sink, activation "
                  "and gates on {} of them; one run each, so small differences mean nothing.",
                  validation.sequences, validation.length, validation.pulse.sequences),
      "All three start, and learn at the rate, that suits the baseline (docs/results/fair-start.md): from a "
      "usual start the gates are ahead mostly because at 0.5 they halve the attention's output. What is left "
      "of the gap over seeds, and how much of that a constant has which sees no token, is in "
      "docs/results/demo-fair.md.",
      "sink: mean attention on the first token, beside what uniform attention gives (floor). max act: "
      "largest |block output|, mean over layers. < 0.1: share of gates that are nearly closed.",
      fmt::format("Corpus: {} documents, {} tokens.", result.corpus.documents, result.corpus.tokens)};
}

std::vector<std::string> demo_next_commands(const DemoResult& result) {
  const std::string out = result.out.string();
  const std::string gated = out + "/elementwise/latest", text = out + "/corpus.jsonl";
  std::vector<std::string> commands = nursery_next_commands(result.nurseries.back());
  commands.insert(
      commands.end(),
      {fmt::format("sluice generate {} --prompt \"{}\" --temperature 0.8", gated, result.prompt),
       fmt::format("sluice eval {} --data {}", gated, text),
       fmt::format("sluice eval {} --data {} --intervene \"attn.gate set=1\"", gated, text),
       fmt::format("sluice trace {0}/headwise/latest --prompt \"{1}\" --out {0}/trace.safetensors", out,
                   result.prompt),
       fmt::format(
           "sluice ablate {0}/elementwise --held-out --plan seeds,controls --estimate --out {0}/ablation",
           out),
       fmt::format("sluice plot {0}/baseline {0}/elementwise --x seconds --out {0}/speed.svg", out)});
  return commands;
}

Report demo_report(const DemoResult& result, ReportHeader header) {
  const RunState& state = result.models.front().outcome.state;
  header.sources.push_back({.role = "data",
                            .name = (result.out / "corpus.tokens").string(),
                            .checksum = checksum_text(result.corpus.checksum)});
  header.sources.push_back({.role = "data",
                            .name = result.nurseries.front().text.tokens.string(),
                            .checksum = checksum_text(result.nurseries.front().text.info.checksum)});
  header.seconds = 0;
  for (const NurseryResult& nursery : result.nurseries) *header.seconds += nursery.seconds;
  for (const DemoModel& model : result.models) *header.seconds += model.outcome.state.seconds;
  std::vector<Section> sections;
  for (const NurseryResult& nursery : result.nurseries) sections.push_back(nursery_section(nursery));
  sections.insert(sections.end(),
                  {comparison_section(result),
                   {.title = "How training went", .blocks = {demo_curves(result), demo_validations(result)}},
                   samples_section(result),
                   breaking_section(result.broken),
                   next_section(result)});
  return {
      .title = "What a gate does to small models",
      .summary = {Paragraph{fmt::format(
          "A nursery for attention sinks: tiny models, without and with a gate per head, on a text where "
          "attention has little to do; first of one head, then of several. "
          "Then a small transformer without a gate, with one gate per head and with one per channel of "
          "the attention output, each trained for {} steps on the same {} tokens of made-up text. At last "
          "those of several heads are broken.",
          state.step, integer_text(state.tokens))}},
      .header = std::move(header),
      .sections = std::move(sections)};
}

void write_demo_report(const DemoResult& result, ReportHeader header) {
  write_result(to_json(result), result.out);
  write_file_atomically(result.out / "report.txt", to_text(result));
  write_report(demo_report(result, std::move(header)), result.out);
}

}  // namespace sluice
