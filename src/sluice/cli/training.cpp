#include "sluice/cli/training.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/analysis/pulse.h"
#include "sluice/base/error.h"
#include "sluice/base/file.h"
#include "sluice/cli/bench/measure.h"
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
                       {"max_activation", pulse.max_activation},
                       {"pulse_sequences", pulse.sequences}};
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
    decoder.forward(context, batch.inputs, Sequences::equal(1, batch.length));
  }
  return probe.pulse();
}

void check_tokenizer(const TrainingJob& job) {
  const int64_t size = Tokenizer::load(job.tokenizer).size();
  const int64_t tokens = job.shards.front().info().vocabulary;
  if (size != tokens) {
    throw bad_input({.where = job.tokenizer.string(),
                     .what = "not the tokenizer that made the data",
                     .expected = fmt::format("{} tokens", tokens),
                     .got = std::to_string(size)});
  }
  if (job.start == RunStart::New || !RunDirectory::has_run(job.out)) return;
  const std::filesystem::path own = job.out / "tokenizer.json";
  std::error_code error;
  if (!std::filesystem::exists(own, error) ||
      !std::ranges::equal(MappedFile(own).bytes(), MappedFile(job.tokenizer).bytes()))
    throw usage_error({.where = "--tokenizer", .what = "is not what the run began with"});
}

// A run goes on as it began: only how long it is, what ends it and how often it is saved may change.
void check_same_run(const TrainingJob& job) {
  const ordered_json now = run_config_json(job.config);
  const ordered_json before = run_config_json(load_run_config((job.out / "config.json").string(), {}));
  for (const auto& change : ordered_json::diff(before, now)) {
    const std::string path = change.at("path");
    if (path.starts_with("/steps") || path.starts_with("/checkpoints/") || path.starts_with("/stop/"))
      continue;
    const ordered_json::json_pointer at(path);
    throw usage_error(
        {.where = "--resume",
         .what = fmt::format("{} is not what the run began with", path.substr(1)),
         .expected = before.value(at, ordered_json()).dump(),
         .got = now.value(at, ordered_json()).dump(),
         .hint = fmt::format("{}/config.json is the run's own configuration", job.out.string())});
  }
}

// Of a run that goes on, its own. Empty: tokens are bytes.
std::filesystem::path tokenizer_of(const TrainingJob& job) {
  if (job.start == RunStart::New) return job.tokenizer;
  std::error_code error;
  const std::filesystem::path own = job.out / "tokenizer.json";
  return std::filesystem::exists(own, error) ? own : std::filesystem::path();
}

Tokenizer load_tokenizer(const std::filesystem::path& path) {
  return path.empty() ? Tokenizer::bytes() : Tokenizer::load(path);
}

bool are_bytes(const std::vector<TokenShard>& shards) {
  return shards.front().info().vocabulary == Tokenizer::bytes().size();
}

void check_sample(const TrainingJob& job) {
  if (job.config.sample.prompt.empty()) return;
  const std::filesystem::path path = tokenizer_of(job);
  const Tokenizer tokenizer = load_tokenizer(path);
  if (path.empty() && !are_bytes(job.shards)) {
    throw bad_input({.where = "sample.prompt",
                     .what = "the tokens of the data are not bytes",
                     .hint = "--tokenizer says what they are"});
  }
  const std::vector<TokenId> ids = tokenizer.encode(job.config.sample.prompt);
  if (std::ranges::any_of(ids, [&](TokenId id) { return id >= job.config.model.vocabulary; }))
    throw bad_input({.where = "sample.prompt", .what = "the model does not have its tokens"});
}

RunDirectory open_directory(const TrainingJob& job) {
  if (job.start == RunStart::Resume) return RunDirectory::open(job.out);
  return RunDirectory::create(
      job.out, {.config = run_config_json(job.config).dump(2) + "\n", .tokenizer = job.tokenizer});
}

class TextSampler {
 public:
  TextSampler(Engine& engine, const RunConfig::Sample& sample, const std::filesystem::path& tokenizer)
      : engine_(engine), sample_(sample), tokenizer_(load_tokenizer(tokenizer)) {}

  std::string continue_with(Decoder& decoder) const {
    Generator generator({engine_}, decoder);
    std::vector<TokenId> ids =
        generator.generate(tokenizer_.encode(sample_.prompt), {.max_tokens = sample_.tokens}).ids;
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

void tell(const ordered_json& validation, Log& log) {
  log.info("step {}: validation loss {:.4f}, sink {:.4f} (uniform: {:.4f}), largest activation {:.2f}{}",
           validation.at("step").get<int64_t>(), validation.at("validation_loss").get<double>(),
           validation.at("sink").get<double>(), validation.at("sink_floor").get<double>(),
           validation.at("max_activation").get<double>(),
           validation.contains("sample") ? fmt::format("; \"{}\"", validation.at("sample").get<std::string>())
                                         : "");
}

}  // namespace

std::vector<TokenShard> open_shards(const std::vector<std::string>& paths) {
  std::vector<TokenShard> shards;
  for (const std::string& path : paths) shards.emplace_back(path).verify();
  return shards;
}

void check_job(const TrainingJob& job) {
  check_data(job.config, job.shards);
  if (!job.tokenizer.empty()) check_tokenizer(job);
  check_sample(job);
  if (job.start == RunStart::Resume && RunDirectory::has_run(job.out)) check_same_run(job);
}

TrainingOutcome run_training(const TrainingJob& job, const Session& session) {
  check_job(job);
  RunDirectory directory = open_directory(job);
  if (directory.tokenizer().empty() && !are_bytes(job.shards))
    session.log.warn("no --tokenizer: other commands will take the model's tokens for bytes");
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
       .validated = [&](const ordered_json& line) { tell(line, session.log); },
       .measure =
           [&](Decoder& decoder, const PackedSequences& sequences) {
             ordered_json figures = pulse_json(pulse_of(engine, decoder, sequences));
             if (sampler) figures["sample"] = sampler->continue_with(decoder);
             return figures;
           }});
  return {.end = end, .state = run.state(), .figures = directory.last_validation()};
}

}  // namespace sluice::cli
