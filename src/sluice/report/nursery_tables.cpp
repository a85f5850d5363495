// The numbers of the nursery, as tables.
#include <fmt/format.h>

#include <algorithm>

#include "sluice/report/look_tables.h"
#include "sluice/report/nursery_findings.h"
#include "sluice/report/nursery_report.h"
#include "sluice/report/planned_finding.h"
#include "sluice/report/table_parts.h"

namespace sluice {
namespace {

NumberFormat fixed_digits(int digits, NumberSign sign = NumberSign::IfNegative) {
  return {.style = NumberStyle::Fixed, .digits = digits, .sign = sign};
}

const TableColumn kCopied{.name = "copied",
                          .key = "copy_accuracy",
                          .note = "share of the letters after triggers that the model finds likeliest",
                          .format = fixed_digits(4)};
const TableColumn kExcess{.name = "excess",
                          .unit = "nats",
                          .note = "loss of all other letters above the chain's own, per letter",
                          .format = fixed_digits(4)};
const TableColumn kLoss{.name = "val. loss",
                        .key = "validation_loss",
                        .unit = "nats",
                        .note = "per token of held-out text",
                        .format = fixed_digits(4)};
const TableColumn kSink{
    .name = "sink", .note = "mean attention on the first token", .format = fixed_digits(4)};
const TableColumn kActivation{.name = "max act",
                              .key = "max_activation",
                              .note = "largest |block output| of a sequence, mean over layers and sequences",
                              .format = fixed_digits(2)};

std::string table_name(const NurseryPair& pair, const char* of) {
  return fmt::format("{}-{}", pair.stem, of);
}

TableColumn variant_column() {
  return {.name = "model", .kind = ColumnKind::Text};
}

TableColumn as_difference(TableColumn column) {
  column.format.sign = NumberSign::Always;
  return column;
}

std::vector<TableCell> nursery_model_row(const NurseryModel& model, const StudiedModel& studied) {
  const Look& look = studied.look;
  return {short_name(model.variant),
          studied.parameters,
          model.outcome.validation->loss,
          model.score.copy_accuracy,
          model.score.excess(),
          look.sink,
          look.key_floor,
          strongest_head(look.attention).sink,
          look.activations.front().of_sequences,
          look.gates.empty() ? TableCell(Missing{}) : TableCell(look.gates.front().mean)};
}

}  // namespace

Table nursery_models(const NurseryResult& result) {
  Table table{.name = table_name(result.pair, "models"),
              .columns = {variant_column(),
                          {.name = "parameters"},
                          kLoss,
                          kCopied,
                          kExcess,
                          kSink,
                          {.name = "floor",
                           .key = "sink_floor",
                           .note = "what uniform attention would put on the first token",
                           .format = fixed_digits(4)},
                          {.name = "top head",
                           .key = "strongest_head",
                           .note = "sink of the head that has most of it",
                           .format = fixed_digits(4)},
                          kActivation,
                          {.name = "gate mean", .key = "gate_mean", .format = fixed_digits(4)}}};
  for (size_t i = 0; i < result.models.size(); ++i)
    table.rows.push_back(nursery_model_row(result.models[i], result.studied(i)));
  return table;
}

Table nursery_heads(const NurseryResult& result) {
  Table table{.name = table_name(result.pair, "heads"),
              .caption = "Attention on the first token by layer and head",
              .columns = {variant_column(), {.name = "layer"}, {.name = "head"}, kSink},
              .view = TableView::Folded};
  for (const StudiedModel& model : result.looked.study.models)
    for (const AttentionLayer& layer : model.look.attention)
      for (size_t h = 0; h < layer.by_head.size(); ++h)
        table.rows.push_back(
            {short_name(model.name), layer.layer, static_cast<int64_t>(h), layer.by_head[h].key.mean()});
  return table;
}

Table nursery_runs(const NurseryPair& pair, const ExperimentResult& seeds) {
  Table table{.name = table_name(pair, "runs"),
              .caption = "Every stored run",
              .columns = {variant_column(), {.name = "seed"}, kLoss, kSink, kActivation, kCopied, kExcess},
              .view = TableView::Folded};
  for (const MeasuredTraining& run : seeds.runs)
    table.rows.push_back({short_name(run.variant), int64_t{run.seed}, run.validation_loss, run.sink,
                          run.max_activation, run.copy_accuracy, run.excess});
  return table;
}

Table nursery_seed_means(const NurseryPair& pair, const ExperimentResult& seeds) {
  Table table{
      .name = table_name(pair, "seeds"),
      .caption = "Means over the seeds that solve the task, with 95 % intervals (Student's t)",
      .columns = {
          variant_column(),
          {.name = "seeds"},
          {.name = "solved",
           .note = fmt::format("seeds that copy {} of the letters after triggers", NurseryLimits::kSolved)},
          {.name = "sinks",
           .note = fmt::format("of these, seeds whose sink is {} times that of uniform attention",
                               kSinkTimesUniform)},
          kSink,
          kActivation,
          kLoss,
          kCopied,
          kExcess}};
  for (const PlannedVariant& variant : seeds.variants) {
    const auto runs = std::ranges::count(seeds.runs, variant.point.name(), &MeasuredTraining::variant);
    if (runs == 0) continue;
    const std::vector<const MeasuredTraining*> solved = counted_runs(seeds, variant);
    const auto sinks =
        std::ranges::count_if(solved, [&](const MeasuredTraining* run) { return has_sink(seeds, *run); });
    const auto mean = [&](double MeasuredTraining::*figure, const std::optional<Interval>& possible = {}) {
      return cell_over_seeds(figure_over_seeds(seeds, variant, figure), possible);
    };
    table.rows.push_back({short_name(variant.point.name()), runs, std::ssize(solved), sinks,
                          mean(&MeasuredTraining::sink, kShares),
                          mean(&MeasuredTraining::max_activation, kSizes),
                          mean(&MeasuredTraining::validation_loss),
                          mean(&MeasuredTraining::copy_accuracy, kShares), mean(&MeasuredTraining::excess)});
  }
  return table;
}

Table nursery_seed_differences(const NurseryPair& pair, const ExperimentResult& seeds) {
  Table table{.name = table_name(pair, "differences"),
              .columns = {variant_column(),
                          {.name = "pairs"},
                          as_difference(kSink),
                          as_difference(kActivation),
                          as_difference(kLoss)}};
  ShownIntervals intervals(seeds.experiment.looks);
  for (const PlannedVariant& variant : seeds.variants) {
    const auto planned = [&](double MeasuredTraining::*figure) {
      return planned_difference(seeds, variant, figure);
    };
    const DifferenceAtLook sinks = planned(&MeasuredTraining::sink);
    if (!is_compared(seeds, variant) || !sinks.difference) continue;
    intervals.add(sinks);  // the other figures are of the same pairs
    std::vector<TableCell>& row = table.rows.emplace_back();
    row = {short_name(variant.point.name()), sinks.difference->count,
           cell_over_seeds(sinks.shown(), kShareDifferences)};
    for (const auto figure : {&MeasuredTraining::max_activation, &MeasuredTraining::validation_loss})
      row.push_back(cell_over_seeds(planned(figure).shown()));
  }
  table.caption = fmt::format("Minus baseline, paired by seed, {} (Student's t)", intervals.text());
  return table;
}

}  // namespace sluice
