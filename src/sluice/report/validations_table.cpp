#include "sluice/report/validations_table.h"

#include <cmath>

namespace sluice {
namespace {

TableCell gate_value(const Pulse& pulse, double value) {
  return pulse.gated ? TableCell(value) : TableCell(Missing{});
}

std::vector<TableColumn> validation_columns() {
  return {
      {.name = "model", .kind = ColumnKind::Text},
      {.name = "seed"},
      {.name = "step"},
      {.name = "tokens"},
      {.name = "validation loss", .key = "validation_loss", .unit = "nats per token"},
      {.name = "sink", .note = "mean attention on the first token"},
      {.name = "floor", .key = "sink_floor", .note = "what uniform attention would put on the first token"},
      {.name = "largest activation",
       .key = "max_activation",
       .note = "largest |block output|, mean over layers"},
      {.name = "mean gate", .key = "gate_mean"},
      {.name = "gates < 0.1", .key = "gate_below_0.1", .note = "share of gates that are nearly closed"}};
}

// Steps and tokens are whole numbers; old runs do not tell their tokens.
TableCell whole(double value) {
  return std::isfinite(value) ? TableCell(static_cast<int64_t>(value)) : TableCell(Missing{});
}

std::vector<TableCell> validation_row(const SeededRun& run, const ValidationMetrics& at) {
  const Pulse& pulse = at.validation.pulse;
  return {run.label,
          int64_t{run.seed},
          at.at.step,
          whole(at.at.tokens),
          at.validation.loss,
          pulse.sink,
          pulse.sink_floor,
          pulse.max_activation,
          gate_value(pulse, pulse.gate_mean),
          gate_value(pulse, pulse.gate_closed)};
}

}  // namespace

Table validations_table(std::span<const SeededRun> runs) {
  Table table{.name = "validations",
              .caption = "Every validation of every run",
              .columns = validation_columns(),
              .view = TableView::Folded};
  for (const SeededRun& run : runs)
    for (const ValidationMetrics& each : run.metrics.validations)
      table.rows.push_back(validation_row(run, each));
  return table;
}

}  // namespace sluice
