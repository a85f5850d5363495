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

// New or Resume.
RunStart start_of(const TrainingJob& job) {
  if (job.start != RunStart::ResumeOrNew) return job.start;
  return RunDirectory::has_run(job.out) ? RunStart::Resume : RunStart::New;
}

bool resumes_a_run(const TrainingJob& job) {
  return start_of(job) == RunStart::Resume && RunDirectory::has_run(job.out);
}

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

void check_tokenizer(const TrainingJob& job) {
  const int64_t size = Tokenizer::named(job.tokenizer).size();
  const int64_t tokens = job.shards.front().info().vocabulary;
  if (size != tokens) {
    throw bad_input({.where = job.tokenizer,
                     .what = "not the tokenizer that made the data",
                     .expected = fmt::format("{} tokens", tokens),
                     .got = std::to_string(size)});
  }
  if (!resumes_a_run(job)) return;
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
std::optional<Tokenizer> tokenizer_of(const TrainingJob& job) {
  const std::filesystem::path own = job.out / "tokenizer.json";
  std::error_code error;
  if (start_of(job) == RunStart::Resume && std::filesystem::exists(own, error)) return Tokenizer::load(own);
  if (!job.tokenizer.empty()) return Tokenizer::named(job.tokenizer);
  if (are_bytes(job.shards)) return Tokenizer::bytes();
  return {};
}

void check_sample(const TrainingJob& job) {
  if (job.config.sample.prompt.empty()) return;
  const std::optional<Tokenizer> tokenizer = tokenizer_of(job);
  if (!tokenizer) {
    throw bad_input({.where = "sample.prompt",
                     .what = "the tokens of the data are not bytes",
                     .hint = "--tokenizer says what they are"});
  }
  const std::vector<TokenId> ids = tokenizer->encode(job.config.sample.prompt);
  if (std::ranges::any_of(ids, [&](TokenId id) { return id >= job.config.model.vocabulary; }))
    throw bad_input({.where = "sample.prompt", .what = "the model does not have its tokens"});
}

RunDirectory open_directory(const TrainingJob& job) {
  if (start_of(job) == RunStart::Resume) return RunDirectory::open(job.out);
  return RunDirectory::create(
      job.out, {.config = run_config_json(job.config).dump(2) + "\n", .tokenizer = tokenizer_text(job)});
}

}  // namespace

double TrainingOutcome::tokens_per_s() const {
  return state.seconds > 0 ? static_cast<double>(state.tokens) / state.seconds : 0;
}

ordered_json to_json(const TrainingOutcome& outcome) {
  const RunState& state = outcome.state;
  const bool has_best = state.best_step >= 0;
  return {{"out", outcome.directory.string()},
          {"end", name_of(outcome.end)},
          {"steps", state.step},
          {"tokens", state.tokens},
          {"tokens_per_s", outcome.tokens_per_s()},
          {"best_validation_loss", has_best ? ordered_json(state.best_loss) : nullptr},
          {"best_step", has_best ? ordered_json(state.best_step) : nullptr},
          {"spikes", state.losses.spikes},
          {"validation", outcome.validation ? to_json(*outcome.validation) : nullptr}};
}

std::vector<TokenShard> open_shards(const std::vector<std::string>& paths) {
  std::vector<TokenShard> shards;
  for (const std::string& path : paths) shards.emplace_back(path).verify();
  return shards;
}

void check_job(const TrainingJob& job) {
  check_data(job.config, job.shards);
  if (!job.tokenizer.empty()) check_tokenizer(job);
  check_sample(job);
  if (resumes_a_run(job)) check_same_run(job);
}

TrainingOutcome run_training(Engine& engine, const TrainingJob& job, const JobControl& control,
                             const RunObserver& observer) {
  check_job(job);
  RunDirectory directory = open_directory(job);
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
