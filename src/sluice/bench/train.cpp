#include "sluice/bench/train.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sluice/base/median.h"
#include "sluice/base/stopwatch.h"
#include "sluice/bench/figures.h"
#include "sluice/data/random_batch.h"
#include "sluice/model/count.h"

namespace sluice::bench {
namespace {

constexpr const char* kReproduction = R"({
  "model": "51m-elementwise", "sequence": 512, "batch_tokens": 4096, "steps": 3662, "dtype": "bf16",
  "schedule": {"peak": 0.0006, "warmup": 200}
})";

// The passes of one step.
std::vector<Batch> random_batches(const RunConfig& config) {
  std::vector<Batch> batches;
  for (int64_t done = 0; done < config.batch_tokens; done += config.pass_tokens) {
    batches.push_back(random_batch({.sequences = config.pass_tokens / config.sequence,
                                    .length = config.sequence,
                                    .vocabulary = config.model.vocabulary,
                                    .seed = static_cast<uint64_t>(done)}));
  }
  return batches;
}

StepResult::Seconds medians(const std::vector<StepResult>& steps) {
  const auto median_of = [&](double StepResult::Seconds::*part) {
    std::vector<double> values;
    for (const StepResult& step : steps) values.push_back(step.seconds.*part);
    return median(values);
  };
  using Seconds = StepResult::Seconds;
  return {.forward = median_of(&Seconds::forward),
          .backward = median_of(&Seconds::backward),
          .update = median_of(&Seconds::update)};
}

}  // namespace

RunConfig reproduction_config(const std::vector<std::string>& changes) {
  return read_run_config(Json::parse(kReproduction, "the 51M reproduction"), changes);
}

TrainSpeed measure_training(Engine& engine, const TrainRequest& request, const JobControl& control) {
  const RunConfig& config = request.config;
  Decoder decoder(config.model);
  decoder.initialise(engine, Random(config.seed), config.init);
  Trainer trainer(engine, decoder, config.trainer);
  const std::vector<Batch> batches = random_batches(config);
  std::vector<StepResult> steps;
  const TokenWork work{
      .tokens = config.batch_tokens,
      .repetitions = request.repetitions,
      // What recomputation adds is not counted: it is a means, not the work.
      .work = {.amount = training_flops_per_token(config.model, config.sequence) *
                         static_cast<double>(config.batch_tokens),
               .bound = arithmetic_bound(engine, config.trainer.precision),
               .seconds = [&] { return seconds_of([&] { steps.push_back(trainer.step(batches)); }); }}};
  const TokenRate rate = measure_tokens(engine, work, control);
  steps.erase(steps.begin());  // measure_tokens() does not count the first either
  return {.precision = config.trainer.precision,
          .isa = engine.isa().isa,
          .parameters = count_parameters(config.model).total(),
          .sequences = config.batch_tokens / config.sequence,
          .sequence = config.sequence,
          .rate = rate,
          .parts = medians(steps)};
}

nlohmann::ordered_json to_json(const TrainSpeed& speed) {
  nlohmann::ordered_json json = {{"what", "train"},
                                 {"dtype", name_of(speed.precision)},
                                 {"isa", name_of(speed.isa)},
                                 {"parameters", speed.parameters},
                                 {"sequence", speed.sequence},
                                 {"flops_per_step", speed.rate.measured.amount}};
  json.update(to_json(speed.rate));
  json["seconds"] = {{"step", rounded(speed.rate.measured.seconds)},
                     {"forward", rounded(speed.parts.forward)},
                     {"backward", rounded(speed.parts.backward)},
                     {"update", rounded(speed.parts.update)}};
  return json;
}

std::string to_text(const TrainSpeed& speed) {
  const auto& [forward, backward, update] = speed.parts;
  return to_text(speed.rate, "train") +
         line("seconds a step", fmt::format("{:.3f} (forward {:.3f}, backward {:.3f}, update {:.3f})",
                                            speed.rate.measured.seconds, forward, backward, update)) +
         line("step", fmt::format("{} sequences of {} tokens in {}, {} parameters", speed.sequences,
                                  speed.sequence, name_of(speed.precision), speed.parameters)) +
         line("memory",
              fmt::format("{:.2f} GB resident at most", static_cast<double>(speed.rate.resident) / 1e9));
}

}  // namespace sluice::bench
