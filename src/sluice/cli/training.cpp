#include "sluice/cli/training.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/analysis/pulse.h"
#include "sluice/base/error.h"
#include "sluice/cli/bench_measure.h"
#include "sluice/cli/progress.h"
#include "sluice/infer/generator.h"
#include "sluice/model/count.h"
#include "sluice/text/tokenizer.h"

namespace sluice::cli {
namespace {

using nlohmann::ordered_json;

// A few sequences tell: sink, activation and gates are means over thousands of values each.
constexpr int64_t kPulseSequences = 4;

ordered_json pulse_json(const Pulse& pulse) {
  ordered_json json = {{"sink", pulse.sink},
                       {"sink_floor", pulse.sink_floor},
                       {"sink_without_first_4", pulse.sink_late},
                       {"max_activation", pulse.max_activation}};
  if (pulse.gated) {
    json["gate_mean"] = pulse.gate_mean;
    json["gate_below_0.1"] = pulse.gate_closed;
  }
  return json;
}

Pulse pulse_of(Engine& engine, Decoder& decoder, const PackedSequences& sequences) {
  PulseProbe probe;
  const Context context{engine, nullptr, &probe};
  for (int64_t i = 0; i < std::min(kPulseSequences, sequences.count()); ++i) {
    const Batch batch = sequences.batch(Range{i, i + 1});
    const Tensor ids = Tensor::from<int32_t>(engine.pool(), {batch.length}, batch.inputs);
    decoder.hidden(context, ids, decoder.place(context, Sequences::equal(1, batch.length)));
  }
  return probe.pulse();
}

void check_tokenizer(const std::filesystem::path& path, const ModelConfig& model) {
  const int64_t size = Tokenizer::load(path).size();
  if (size <= model.vocabulary) return;
  throw bad_input({.where = path.string(),
                   .what = "the tokenizer does not fit the model",
                   .expected = fmt::format("at most {} tokens", model.vocabulary),
                   .got = std::to_string(size)});
}

// A run goes on as it began: only how long it is, what ends it and how often it is saved may change.
void check_same_run(const TrainingJob& job) {
  const ordered_json now = run_config_json(job.config);
  const ordered_json before = run_config_json(load_run_config((job.out / "config.json").string(), {}));
  for (const auto& [key, value] : before.items()) {
    if (key == "steps" || key == "checkpoints" || key == "stop" || now.at(key) == value) continue;
    throw usage_error({.where = "--resume",
                       .what = fmt::format("{} is not what the run began with", key),
                       .expected = value.dump(),
                       .got = now.at(key).dump()});
  }
}

RunDirectory open_directory(const TrainingJob& job) {
  check_data(job.config, job.shards);
  if (!job.tokenizer.empty()) check_tokenizer(job.tokenizer, job.config.model);
  if (job.start == RunStart::New) {
    return RunDirectory::create(
        job.out, {.config = run_config_json(job.config).dump(2) + "\n", .tokenizer = job.tokenizer});
  }
  if (RunDirectory::has_run(job.out)) check_same_run(job);
  return RunDirectory::open(job.out);
}

class TextSampler {
 public:
  TextSampler(Engine& engine, const RunConfig::Sample& sample, const std::filesystem::path& tokenizer)
      : engine_(engine),
        sample_(sample),
        tokenizer_(tokenizer.empty() ? Tokenizer::bytes() : Tokenizer::load(tokenizer)) {}

  std::string continue_with(Decoder& decoder) const {
    const std::vector<TokenId> prompt = tokenizer_.encode(sample_.prompt);
    if (std::ranges::any_of(prompt, [&](TokenId id) { return id >= decoder.config().vocabulary; })) {
      throw bad_input({.where = "sample.prompt", .what = "the model does not have its tokens"});
    }
    Generator generator({engine_}, decoder);
    std::vector<TokenId> ids = generator.generate(prompt, {.max_tokens = sample_.tokens}).ids;
    // A model's vocabulary may be padded beyond its tokenizer's: such ids have no text.
    std::erase_if(ids, [&](TokenId id) { return id >= tokenizer_.size(); });
    return sample_.prompt + tokenizer_.decode(ids);
  }

 private:
  Engine& engine_;
  RunConfig::Sample sample_;
  Tokenizer tokenizer_;
};

// Loss, rate and share of the peak behind the bar.
class TrainingProgress {
 public:
  TrainingProgress(Engine& engine, const RunConfig& config, Progress& progress)
      : engine_(engine), config_(config), progress_(progress) {}

  void step(const StepResult& result, const RunState& state) {
    const double seconds = state.seconds - seconds_;
    seconds_ = state.seconds;
    // The first difference after a resume holds all sessions before it.
    if (steps_++ > 0 || state.step == 1) recent_ = recent_ == 0 ? seconds : 0.9 * recent_ + 0.1 * seconds;
    if (progress_.will_show() && recent_ > 0) {
      const double rate = static_cast<double>(result.tokens) / recent_;
      progress_.note(fmt::format("loss {:.4f}, {:.0f} tokens/s, {:.2f} of the peak", result.loss, rate,
                                 rate * training_flops_per_token(config_.model, config_.sequence) / peak()));
    }
    progress_.done(1);
  }

 private:
  // Measured when it is first shown: short runs need not wait for it.
  double peak() {
    if (peak_ == 0)
      peak_ = peak_meter(engine_).measure(arithmetic_bound(engine_, config_.trainer.precision).peak);
    return peak_;
  }

  Engine& engine_;
  const RunConfig& config_;
  Progress& progress_;
  int64_t steps_ = 0;
  double seconds_ = 0, recent_ = 0, peak_ = 0;
};

}  // namespace

TrainingOutcome run_training(const TrainingJob& job, const Session& session) {
  RunDirectory directory = open_directory(job);
  Engine engine(session.options.engine());
  Run run({.engine = engine,
           .config = job.config,
           .directory = directory,
           .shards = job.shards,
           .log = session.log});
  std::optional<TextSampler> sampler;
  if (!job.config.sample.prompt.empty()) sampler.emplace(engine, job.config.sample, directory.tokenizer());
  Progress bar(session.log, "steps", job.config.steps() - run.state().step);
  TrainingProgress progress(engine, job.config, bar);
  const RunEnd end = run.train(
      {.stepped = [&](const StepResult& result, const RunState& state) { progress.step(result, state); },
       .measure =
           [&](Decoder& decoder, const PackedSequences& sequences) {
             ordered_json figures = pulse_json(pulse_of(engine, decoder, sequences));
             if (sampler) figures["sample"] = sampler->continue_with(decoder);
             return figures;
           }});
  return {.end = end, .state = run.state(), .figures = directory.last_validation()};
}

}  // namespace sluice::cli
