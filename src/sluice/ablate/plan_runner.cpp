#include "sluice/ablate/plan_runner.h"

#include <algorithm>
#include <cmath>

#include "sluice/ablate/layer_sweep.h"
#include "sluice/ablate/readout.h"
#include "sluice/ablate/run_waves.h"
#include "sluice/base/error.h"
#include "sluice/nn/tap_points.h"

namespace sluice {

PlanRunner::PlanRunner(const LoadedModel& model, const AblationPlan& plan,
                       std::shared_ptr<const Calibration> calibration, const PlanRunnerOptions& options)
    : model_(model), options_(options) {
  check_plan(plan, model.config());
  interventions_ = parsed_runs(plan, model.config());
  equal_ = equal_runs(plan);
  for (std::vector<Intervention>& run : interventions_) {
    give_calibration(run, calibration);
    check_calibrated(run);
    entries_.push_back(entry_of_run(run, model.config()));
  }
}

// One chunk.
struct PlanRunner::Job {
  const Chunk& chunk;
  int64_t chunk_index;
  std::span<const size_t> runs;  // indices into the plan
  Context context;
  LayerSweep sweep;
  SweptRun base;
  ReadRun base_read;
  ChunkResult result;
};

namespace {

void check_finite_nll(const RunMeasures& measures, const std::string& who, int64_t chunk) {
  if (std::isfinite(measures.nll.sum)) return;
  throw failure({.where = who, .what = fmt::format("the likelihood of chunk {} is not finite", chunk)});
}

}  // namespace

// Some of the runs, through layers and output; with the first of them the unbroken model.
void PlanRunner::measure_wave(Job& job, const RunWave& wave) const {
  const bool first = job.base_read.measures.nll.tokens == 0;
  const Decoder& decoder = model_.decoder();
  std::vector<SweptRun> swept;
  for (const size_t i : wave.runs) {
    const size_t run = job.runs[i];
    swept.push_back(
        {.changes = &interventions_[run], .entry = entries_[run], .signs = LayerSigns(decoder.layers())});
  }
  SweptRun base{.signs = LayerSigns(decoder.layers())};
  if (!first) base.signs = job.base.signs;
  base.stream = first ? job.sweep.embedded(base) : job.sweep.kept_before(wave.base_layers.begin);
  job.sweep.run(base, swept, wave.base_layers);
  if (first) {
    job.base = base;
    job.base_read.hidden = decoder.finish(job.context, Var(base.stream)).value();
  }
  std::vector<std::unique_ptr<RunBatch>> probes;
  std::vector<ReadRun> read;
  for (SweptRun& run : swept) {
    probes.push_back(
        std::make_unique<RunBatch>(std::vector<RunBatch::Member>{{.changes = run.changes}}, job.chunk_index));
    probes.back()->begin_pass({.sequences = Sequences::equal(1, std::ssize(job.chunk.ids) - 1)});
    const Context probed = job.context.with_probe(probes.back().get());
    const bool changes_logits = is_probed(probed, {TapName::kNoLayer, points::kLogits});
    read.push_back(
        {.hidden = decoder.finish(probed, Var(run.stream)).value(),
         .probe = changes_logits ? probes.back().get() : nullptr,
         .measures = {.sink = run.signs.mean_sink(), .largest_activation = run.signs.mean_activation()}});
    run.stream = {};
  }
  read_out(job.context,
           {.decoder = decoder,
            .chunk = job.chunk,
            .base = job.base_read,
            .base_nll = first,
            .runs = read,
            .divergence = options_.divergence ? UnbrokenComparison::Measured : UnbrokenComparison::Left});
  check_finite_nll(job.base_read.measures, fmt::format("{}: the unbroken model", model_.path().string()),
                   job.chunk_index);
  for (size_t i = 0; i < read.size(); ++i) job.result.runs[wave.runs[i]] = read[i].measures;
}

PlanRunner::ChunkResult PlanRunner::measure(const Chunk& chunk, int64_t chunk_index,
                                            std::span<const size_t> runs, const JobControl& control) const {
  std::vector<size_t> each;
  for (const size_t run : runs)
    if (std::ranges::find(each, equal_[run]) == each.end()) each.push_back(equal_[run]);
  const ChunkResult measured = measure_each(chunk, chunk_index, each, control);
  ChunkResult result{.base = measured.base, .runs = {}};
  for (const size_t run : runs)
    result.runs.push_back(
        measured.runs[static_cast<size_t>(std::ranges::find(each, equal_[run]) - each.begin())]);
  return result;
}

PlanRunner::ChunkResult PlanRunner::measure_each(const Chunk& chunk, int64_t chunk_index,
                                                 std::span<const size_t> runs,
                                                 const JobControl& control) const {
  ChunkResult nothing{.base = {}, .runs = std::vector<RunMeasures>(runs.size())};
  if (chunk.predicted == 0) return nothing;
  const Context context = model_.context(nullptr, Packing::Keep);
  const auto inputs = std::span(chunk.ids).first(chunk.ids.size() - 1);
  const LayerSweep::Text text{
      .ids = inputs, .chunk = chunk_index, .signs = options_.signs ? Signs::Measured : Signs::Left};
  Job job{.chunk = chunk,
          .chunk_index = chunk_index,
          .runs = runs,
          .context = context,
          .sweep = LayerSweep(context, model_.decoder(), text, control),
          .base = {},
          .base_read = {},
          .result = std::move(nothing)};
  std::vector<RunEntry> entries;
  for (const size_t run : runs) entries.push_back(entries_[run]);
  const std::vector<RunWave> waves =
      run_waves(entries, model_.config(), {.memory = options_.memory, .tokens = std::ssize(inputs)});
  for (const RunWave& wave : waves) job.sweep.keep_before(wave.base_layers.begin);
  job.sweep.keep_before(model_.decoder().layers());
  for (const RunWave& wave : waves) measure_wave(job, wave);
  RunMeasures& base = job.base_read.measures;
  base.sink = job.base.signs.mean_sink();
  base.largest_activation = job.base.signs.mean_activation();
  job.result.base = base;
  return job.result;
}

}  // namespace sluice
