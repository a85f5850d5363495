#include "sluice/experiment/experiment_course.h"

#include <limits>

#include "sluice/analysis/study.h"
#include "sluice/analysis/value_norms.h"
#include "sluice/train/run_config.h"
#include "sluice/train/run_directory.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

double first_value_of(Engine& engine, const fs::path& weights, const JobControl& control) {
  const LoadedModel model(engine, weights);
  const ChunkedText text = read_chunks(model, HeldOutText{}, {.at_most = kMeasuredSequences}, control);
  return first_value_norm(model, text, control);
}

// Where a run was stopped for a while it was saved as well; that is no part of its plan.
bool is_planned(const RunConfig& config, int64_t step) {
  return step % config.checkpoints.every == 0 || step % config.validation.every == 0 ||
         step == config.steps();
}

}  // namespace

Look held_out_look(Engine& engine, const fs::path& weights, const JobControl& control) {
  StudyRequest request{.models = {weights.string()},
                       .source = HeldOutText{},
                       .chunks = {.at_most = kMeasuredSequences},
                       .prompt = {}};
  return std::move(study_models(engine, request, control).models.front().look);
}

double mean_largest_activation(const Look& look) {
  return look.activations.front().of_sequences.value;
}

std::vector<CoursePoint> measure_course(Engine& engine, const fs::path& run, const JobControl& control) {
  const RunConfig config = load_run_config((run / "config.json").string(), {});
  std::vector<CoursePoint> course;
  for (int64_t step = 1; step <= config.steps(); ++step) {
    if (!is_planned(config, step) || !RunDirectory::has_checkpoint(run, step)) continue;
    control.stop_if_cancelled();
    const fs::path weights = RunDirectory::checkpoint_of(run, step);
    const Look look = held_out_look(engine, weights, control);
    const GateMeasure* gate = look.output_gate();
    course.push_back(
        {.step = step,
         .tokens = step * config.batch_tokens,
         .loss = look.perplexity.nll,
         .sink = look.sink.value,
         .max_activation = mean_largest_activation(look),
         .gate_mean = gate != nullptr ? gate->mean.value : std::numeric_limits<double>::quiet_NaN(),
         .first_value = first_value_of(engine, weights, control)});
  }
  return course;
}

}  // namespace sluice
