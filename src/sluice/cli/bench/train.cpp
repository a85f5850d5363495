// bench train: a whole training step on random tokens beside the machine's peak. No files are needed.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/base/error.h"
#include "sluice/cli/bench/bench.h"
#include "sluice/cli/bench/tokens.h"
#include "sluice/cli/peaks.h"
#include "sluice/data/random_batch.h"
#include "sluice/model/count.h"
#include "sluice/train/run_config.h"

namespace sluice::cli {
namespace {

// The step of configs/runs/51m-elementwise.json, whose figures docs and goals speak of.
constexpr const char* kReproduction = R"({
  "model": "51m-elementwise", "sequence": 512, "batch_tokens": 4096, "steps": 3662, "dtype": "bf16",
  "schedule": {"peak": 0.0006, "warmup": 200}
})";

RunConfig config_of(const BenchRequest& request, const Session& session) {
  std::vector<std::string> changes = request.changes;
  if (!session.options.dtype.empty()) changes.push_back(fmt::format("dtype={}", session.options.dtype));
  if (!request.model.empty()) return load_run_config(request.model, changes);
  return read_run_config(Json::parse(kReproduction, "the 51M reproduction"), changes);
}

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

// Where the time of the measured steps went, as medians.
StepResult::Seconds parts_of(const std::vector<StepResult>& steps) {
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

struct TrainReport {
  const RunConfig& config;
  const TokenBench& bench;
  const TokenRates& rates;
  StepResult::Seconds parts;
  Isa isa;
};

void print_text(const TrainReport& report, const Session& session) {
  const auto& [config, bench, rates, parts, isa] = report;
  session.out << rates_text(bench, rates)
              << fmt::format("{:<16}{:.3f} (forward {:.3f}, backward {:.3f}, update {:.3f})\n",
                             "seconds a step", rates.measured.seconds, parts.forward, parts.backward,
                             parts.update)
              << fmt::format("{:<16}{} sequences of {} tokens in {}, {} parameters\n", "step",
                             config.batch_tokens / config.sequence, config.sequence,
                             config.trainer.precision == Precision::Bf16 ? "bf16" : "f32",
                             count_parameters(config.model).total())
              << fmt::format("{:<16}{:.2f} GB resident at most\n", "memory",
                             static_cast<double>(rates.resident) / 1e9)
              << peaks_text(rates.peaks, rates.threads);
}

void print_json(const TrainReport& report, const Session& session) {
  const auto& [config, bench, rates, parts, isa] = report;
  nlohmann::ordered_json json = {
      {"what", bench.what},          {"dtype", config.trainer.precision == Precision::Bf16 ? "bf16" : "f32"},
      {"isa", name_of(isa)},         {"parameters", count_parameters(config.model).total()},
      {"sequence", config.sequence}, {"flops_per_step", bench.work.amount}};
  json.update(rates_json(bench, rates));
  json["seconds"] = {{"step", rounded(rates.measured.seconds)},
                     {"forward", rounded(parts.forward)},
                     {"backward", rounded(parts.backward)},
                     {"update", rounded(parts.update)}};
  session.out << json.dump(2) << '\n';
}

}  // namespace

void bench_train(const BenchRequest& request, const Session& session) {
  const RunConfig config = config_of(request, session);
  Engine engine(session.options.engine());
  Decoder decoder(config.model);
  decoder.initialise(engine, Random(config.seed));
  Trainer trainer(engine, decoder, config.trainer);
  const std::vector<Batch> batches = random_batches(config);
  std::vector<StepResult> steps;
  const TokenBench bench{
      .what = "train",
      .tokens = config.batch_tokens,
      .repetitions = request.repetitions(),
      // What recomputation adds is not counted: it is a means, not the work.
      .work = {.amount = training_flops_per_token(config.model, config.sequence) *
                         static_cast<double>(config.batch_tokens),
               .bound = arithmetic_bound(engine, config.trainer.precision),
               .seconds = [&] { return seconds_of([&] { steps.push_back(trainer.step(batches)); }); }}};
  const TokenRates rates = measure_tokens(engine, bench);
  steps.erase(steps.begin());  // measure_tokens() does not count the first either
  const TrainReport report{config, bench, rates, parts_of(steps), engine.isa().isa};
  const auto print = session.options.json ? print_json : print_text;
  print(report, session);
}

}  // namespace sluice::cli
