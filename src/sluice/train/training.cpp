#include "sluice/train/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/base/error.h"
#include "sluice/base/file.h"
#include "sluice/data/tokenizer_match.h"
#include "sluice/text/tokenizer.h"
#include "sluice/text/tokenizer_writer.h"
#include "sluice/train/training_ranks.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

bool are_bytes(const std::vector<TokenShard>& shards) {
  const TokenShardInfo& info = shards.front().info();
  const Tokenizer bytes = Tokenizer::bytes();
  return info.vocabulary == bytes.size() && (info.tokenizer == 0 || info.tokenizer == bytes.fingerprint());
}

// The configuration of a run that is resumed. Versions that drew the validation text by the run's seed did
// not say so: then that is the seed of the split.
struct BegunRun {
  explicit BegunRun(const std::filesystem::path& out) : BegunRun(Json::load(out / "config.json")) {}

  RunConfig config;
  bool predates_validation_seed;

 private:
  explicit BegunRun(const Json& json)
      : config(read_run_config(json)),
        predates_validation_seed(!json.contains("validation") || !json.at("validation").contains("seed")) {
    if (!predates_validation_seed) return;
    config.validation.split = SplitRule::Documents;
    config.validation.seed = config.seed;
  }
};

// A job and what is in its directory. That is looked at once, so that all checks and the start agree. The
// job's configuration is made complete by what data and directory say.
struct ResolvedJob {
  TrainingJob job;
  std::optional<BegunRun> begun;  // what the job resumes
};

ResolvedJob resolve(const TrainingJob& job) {
  ResolvedJob resolved{.job = job, .begun = {}};
  const bool resumes =
      job.start == RunStart::Resume || (job.start == RunStart::ResumeOrNew && RunDirectory::has_run(job.out));
  resumes ? RunDirectory::check_has_run(job.out) : RunDirectory::check_is_free(job.out);
  if (resumes) resolved.begun.emplace(job.out);
  return resolved;
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
  const Tokenizer tokenizer = Tokenizer::named(job.tokenizer);
  const TokenShardInfo& data = job.shards.front().info();
  if (tokenizer.size() != data.vocabulary) {
    throw bad_input({.where = job.tokenizer,
                     .what = "not the tokenizer that made the data",
                     .expected = fmt::format("{} tokens", data.vocabulary),
                     .got = std::to_string(tokenizer.size())});
  }
  check_made_by(job.shards, tokenizer.fingerprint(), job.tokenizer);
  if (!resolved.begun) return;
  const std::filesystem::path own = job.out / "tokenizer.json";
  std::error_code error;
  if (!std::filesystem::exists(own, error) || MappedFile(own).text() != tokenizer_text(job))
    throw usage_error({.where = "--tokenizer", .what = "is not what the run began with"});
}

std::optional<Tokenizer> tokenizer_in(const std::filesystem::path& out) {
  std::error_code unknown;
  if (!std::filesystem::exists(out / "tokenizer.json", unknown)) return {};
  return Tokenizer::load(out);
}

// Of a run that is resumed, its own.
std::optional<Tokenizer> tokenizer_of(const ResolvedJob& resolved) {
  const TrainingJob& job = resolved.job;
  if (resolved.begun) {
    if (std::optional<Tokenizer> own = tokenizer_in(job.out)) return own;
  }
  if (!job.tokenizer.empty()) return Tokenizer::named(job.tokenizer);
  if (are_bytes(job.shards)) return Tokenizer::bytes();
  return {};
}

// What the text says of the model: which token ends its documents, and which tokenizer made it. A run of a
// version that did not note this goes on without.
void complete_config(ResolvedJob& resolved) {
  TrainingJob& job = resolved.job;
  ModelConfig& model = job.config.model;
  if (resolved.begun && resolved.begun->predates_validation_seed) {
    const RunConfig& before = resolved.begun->config;
    model.end_of_text = before.model.end_of_text;
    job.config.validation.split = before.validation.split;
    job.config.validation.seed = before.validation.seed;
    return;
  }
  for (const TokenShard& shard : job.shards) {
    const int64_t id = shard.info().end_of_text;
    if (std::ranges::find(model.end_of_text, id) == model.end_of_text.end()) model.end_of_text.push_back(id);
  }
  const std::optional<Tokenizer> tokenizer = tokenizer_of(resolved);
  model.tokenizer = tokenizer ? tokenizer->fingerprint() : job.shards.front().info().tokenizer;
}

// A run goes on as it began: only how long it is, what ends it and how often it is saved may change.
void check_same_run(const TrainingJob& job, const BegunRun& begun) {
  const ordered_json now = run_config_json(job.config);
  const ordered_json before = run_config_json(begun.config);
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

// The job with its configuration complete, or an error.
ResolvedJob checked(const TrainingJob& asked) {
  ResolvedJob resolved = resolve(asked);
  const TrainingJob& job = resolved.job;
  if (!job.tokenizer.empty()) check_tokenizer(resolved);
  complete_config(resolved);
  text_of(job.config, job.shards, job.validation);
  for (const auto& shards : {job.shards, job.validation})
    check_made_by(shards, job.config.model.tokenizer, "the run");
  check_sample(resolved);
  if (resolved.begun) check_same_run(job, *resolved.begun);
  return resolved;
}

// What was learnt says nothing about new text.
void warn_of_learnt_validation(const TrainingJob& job, const JobControl& control) {
  for (const TokenShard& shard : job.validation) {
    const bool is_learnt = std::ranges::any_of(job.shards, [&](const TokenShard& learnt) {
      return learnt.info().checksum == shard.info().checksum && learnt.info().tokens == shard.info().tokens;
    });
    if (is_learnt) control.warn("{}: validates on what it trains on", shard.name());
  }
}

RunDirectory open_directory(const ResolvedJob& resolved) {
  const TrainingJob& job = resolved.job;
  if (resolved.begun) return RunDirectory::open(job.out);
  const std::optional<HeldOut> held_out = held_out_of(job.config, job.shards, job.validation);
  return RunDirectory::create(job.out, {.config = run_config_json(job.config).dump(2) + "\n",
                                        .tokenizer = tokenizer_text(job),
                                        .held_out = held_out ? to_json(*held_out).dump(2) + "\n" : ""});
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

std::vector<TokenShard> open_shards(const std::vector<std::string>& paths, const TextOpening& opening,
                                    const JobControl& control) {
  std::vector<TokenShard> shards;
  for (const std::string& path : paths) shards.push_back(open_text(path, opening, control));
  warn_of_unknown_tokenizer(shards, control);
  return shards;
}

std::optional<Tokenizer> tokenizer_of_texts(const std::string& named, const std::filesystem::path& out) {
  return named.empty() ? tokenizer_in(out) : Tokenizer::named(named);
}

void check_job(const TrainingJob& job) {
  Ranks& ranks = job.ranks.ranks;
  together(ranks, [&] {
    if (ranks.is_first()) checked(job);
  });
}

TrainingOutcome run_training(Engine& engine, const TrainingJob& asked, const JobControl& control,
                             const RunObserver& observer) {
  Ranks& ranks = asked.ranks.ranks;
  check_ranks(engine, asked);
  TrainingJob job = asked;
  std::optional<RunDirectory> directory;
  together(ranks, [&] {
    if (!ranks.is_first()) return;
    const ResolvedJob resolved = checked(asked);
    job = resolved.job;
    directory.emplace(open_directory(resolved));
  });
  // As the first rank has completed it; the others do not look at the directory.
  const std::string config = broadcast(ranks, run_config_json(job.config).dump());
  if (!ranks.is_first()) job.config = read_run_config(Json::parse(config, "the run's configuration"));
  tell_ranks(engine, job, control);
  warn_of_learnt_validation(job, control);
  if (directory && directory->tokenizer().empty())
    control.warn("no --tokenizer: the checkpoints will not say what their tokens stand for");
  Run run({.engine = engine,
           .config = job.config,
           .directory = directory ? &*directory : nullptr,
           .shards = job.shards,
           .control = control,
           .validation = job.validation,
           .ranks = job.ranks,
           .path = job.out});
  const RunEnd end = run.train(observer);
  return {.directory = job.out, .end = end, .state = run.state(), .validation = run.validation()};
}

}  // namespace sluice
