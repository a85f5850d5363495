#include "sluice/train/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/base/error.h"
#include "sluice/base/file.h"
#include "sluice/text/tokenizer.h"
#include "sluice/text/tokenizer_writer.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

// A job and what is in its directory. That is looked at once, so that all checks and the start agree.
struct ResolvedJob {
  const TrainingJob& job;
  bool has_run = RunDirectory::has_run(job.out);
  bool resumes = job.start == RunStart::Resume || (job.start == RunStart::ResumeOrNew && has_run);
};

bool are_bytes(const std::vector<TokenShard>& shards) {
  return shards.front().info().vocabulary == Tokenizer::bytes().size();
}

// The tokenizer.json that checkpoints get, empty if there is none.
std::string tokenizer_text(const TrainingJob& job) {
  const bool bytes = job.tokenizer == "bytes" || (job.tokenizer.empty() && are_bytes(job.shards));
  if (bytes) return byte_tokenizer_json();
  if (job.tokenizer.empty()) return {};
  std::filesystem::path file = job.tokenizer;
  std::error_code unknown;  // what cannot be looked at is opened, which says why
  if (std::filesystem::is_directory(file, unknown)) file /= "tokenizer.json";
  return MappedFile(file).text();
}

void check_tokenizer(const ResolvedJob& resolved) {
  const TrainingJob& job = resolved.job;
  const int64_t size = Tokenizer::named(job.tokenizer).size();
  const int64_t tokens = job.shards.front().info().vocabulary;
  if (size != tokens) {
    throw bad_input({.where = job.tokenizer,
                     .what = "not the tokenizer that made the data",
                     .expected = fmt::format("{} tokens", tokens),
                     .got = std::to_string(size)});
  }
  if (!resolved.resumes) return;
  const std::filesystem::path own = job.out / "tokenizer.json";
  std::error_code error;
  if (!std::filesystem::exists(own, error) || MappedFile(own).text() != tokenizer_text(job))
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

// Of a run that is resumed, its own.
std::optional<Tokenizer> tokenizer_of(const ResolvedJob& resolved) {
  const TrainingJob& job = resolved.job;
  const std::filesystem::path own = job.out / "tokenizer.json";
  std::error_code error;
  if (resolved.resumes && std::filesystem::exists(own, error)) return Tokenizer::load(own);
  if (!job.tokenizer.empty()) return Tokenizer::named(job.tokenizer);
  if (are_bytes(job.shards)) return Tokenizer::bytes();
  return {};
}

void check_sample(const ResolvedJob& resolved) {
  const TrainingJob& job = resolved.job;
  if (job.config.sample.prompt.empty()) return;
  const std::optional<Tokenizer> tokenizer = tokenizer_of(resolved);
  if (!tokenizer) {
    throw bad_input({.where = "sample.prompt",
                     .what = "the tokens of the data are not bytes",
                     .hint = "--tokenizer says what they are"});
  }
  const std::vector<TokenId> ids = tokenizer->encode(job.config.sample.prompt);
  if (std::ranges::any_of(ids, [&](TokenId id) { return id >= job.config.model.vocabulary; }))
    throw bad_input({.where = "sample.prompt", .what = "the model does not have its tokens"});
}

void check(const ResolvedJob& resolved) {
  const TrainingJob& job = resolved.job;
  resolved.resumes ? RunDirectory::check_has_run(job.out) : RunDirectory::check_is_free(job.out);
  check_data(job.config, job.shards);
  if (!job.tokenizer.empty()) check_tokenizer(resolved);
  check_sample(resolved);
  if (resolved.resumes) check_same_run(job);
}

RunDirectory open_directory(const ResolvedJob& resolved) {
  const TrainingJob& job = resolved.job;
  if (resolved.resumes) return RunDirectory::open(job.out);
  return RunDirectory::create(
      job.out, {.config = run_config_json(job.config).dump(2) + "\n", .tokenizer = tokenizer_text(job)});
}

}  // namespace

double TrainingOutcome::tokens_per_s() const {
  return state.seconds > 0 ? static_cast<double>(state.tokens) / state.seconds : 0;
}

ordered_json figures_json(const TrainingOutcome& outcome) {
  return {{"steps", outcome.state.step},
          {"tokens", outcome.state.tokens},
          {"spikes", outcome.state.losses.spikes},
          {"validation", outcome.validation ? to_json(*outcome.validation) : nullptr}};
}

ordered_json timing_json(const TrainingOutcome& outcome) {
  return {{"tokens_per_s", outcome.tokens_per_s()}, {"seconds", outcome.state.seconds}};
}

ordered_json to_json(const TrainingOutcome& outcome) {
  const RunState& state = outcome.state;
  const bool has_best = state.best_step >= 0;
  ordered_json json = {{"out", outcome.directory.string()}, {"end", name_of(outcome.end)}};
  json.update(figures_json(outcome));
  json["tokens_per_s"] = outcome.tokens_per_s();
  json["best_validation_loss"] = has_best ? ordered_json(state.best_loss) : nullptr;
  json["best_step"] = has_best ? ordered_json(state.best_step) : nullptr;
  return json;
}

std::string to_text(const TrainingOutcome& outcome) {
  const RunState& state = outcome.state;
  std::string best;
  if (state.best_step >= 0)
    best = fmt::format("; validation loss {:.4f} at step {}", state.best_loss, state.best_step);
  return fmt::format("{}: {} steps, {} tokens{}; {}/latest\n", name_of(outcome.end), state.step, state.tokens,
                     best, outcome.directory.string());
}

std::vector<TokenShard> open_shards(const std::vector<std::string>& paths) {
  std::vector<TokenShard> shards;
  for (const std::string& path : paths) shards.emplace_back(path);
  return shards;
}

void check_job(const TrainingJob& job) {
  check(ResolvedJob{.job = job});
}

TrainingOutcome run_training(Engine& engine, const TrainingJob& job, const JobControl& control,
                             const RunObserver& observer) {
  const ResolvedJob resolved{.job = job};
  check(resolved);
  RunDirectory directory = open_directory(resolved);
  if (directory.tokenizer().empty())
    control.warn("no --tokenizer: the checkpoints will not say what their tokens stand for");
  Run run({.engine = engine,
           .config = job.config,
           .directory = directory,
           .shards = job.shards,
           .control = control});
  const RunEnd end = run.train(observer);
  return {.directory = job.out, .end = end, .state = run.state(), .validation = run.validation()};
}

}  // namespace sluice
