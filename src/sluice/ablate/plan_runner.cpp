#include "sluice/ablate/plan_runner.h"

#include <cmath>

#include "sluice/ablate/readout.h"
#include "sluice/ablate/run_batch.h"
#include "sluice/base/error.h"
#include "sluice/nn/tap_points.h"

namespace sluice {
PlanRunner::PlanRunner(const LoadedModel& model, const AblationPlan& plan,
                       std::shared_ptr<const Calibration> calibration, const PlanRunnerOptions& options)
    : model_(model), options_(options) {
  check_plan(plan, model.config());
  for (const PlannedRun& run : plan.runs) names_.push_back(run.name);
  interventions_ = parsed_runs(plan, model.config());
  for (std::vector<Intervention>& run : interventions_) {
    give_calibration(run, calibration);
    check_calibrated(run);
  }
}

PlanRunner::ChunkResult PlanRunner::measure(const Chunk& chunk, int64_t chunk_index,
                                            std::span<const size_t> runs, const JobControl& control) const {
  const Decoder& decoder = model_.decoder();
  const Context context = model_.context(nullptr, Packing::Keep);
  const auto inputs = std::span(chunk.ids).first(chunk.ids.size() - 1);
  std::vector<LayerSigns> signs(runs.size() + 1, LayerSigns(decoder.layers()));
  std::vector<std::unique_ptr<RunBatch>> probes;
  std::vector<ReadRun> read(runs.size() + 1);
  for (size_t i = 0; i < read.size(); ++i) {
    control.stop_if_cancelled();
    RunBatch::Member member{.signs = options_.signs ? &signs[i] : nullptr};
    if (i > 0) member.changes = &interventions_[runs[i - 1]];
    probes.push_back(std::make_unique<RunBatch>(std::vector{member}, chunk_index));
    const Context probed = context.with_probe(probes.back().get());
    read[i].hidden = decoder.forward(probed, inputs).y.value();
    if (is_probed(probed, {TapName::kNoLayer, points::kLogits})) read[i].probe = probes.back().get();
    read[i].measures.sink = signs[i].mean_sink();
    read[i].measures.largest_activation = signs[i].mean_activation();
  }
  read_out(context, {.decoder = decoder,
                     .chunk = chunk,
                     .base = read.front(),
                     .runs = std::span(read).subspan(1),
                     .divergence = options_.divergence ? Divergence::Measured : Divergence::Left});
  ChunkResult result{.base = read.front().measures, .runs = {}};
  if (!std::isfinite(result.base.nll.sum)) {
    throw failure(
        {.where = model_.path().string(),
         .what = fmt::format("the likelihood of chunk {} is not finite in the unbroken model", chunk_index)});
  }
  for (const ReadRun& run : std::span(read).subspan(1)) result.runs.push_back(run.measures);
  return result;
}

}  // namespace sluice
