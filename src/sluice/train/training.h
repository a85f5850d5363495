// Training as a use case: a run from its checks and its directory to its last validation.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sluice/data/opened_text.h"
#include "sluice/train/run.h"

namespace sluice {

struct TrainingJob {
  RunConfig config;
  std::vector<TokenShard> shards;
  std::filesystem::path out;
  // As Tokenizer::named() takes it, for a new run; one that is resumed has its own. Empty: bytes if the data
  // are, else nobody knows.
  std::string tokenizer = {};
  RunStart start = RunStart::New;
  std::vector<TokenShard> validation = {};  // text for that alone; none: a share of the shards is kept out
  TrainerRanks ranks = {};                  // every rank has the same job
};

struct TrainingOutcome {
  std::filesystem::path directory;
  RunEnd end = RunEnd::Finished;
  RunState state = {};
  std::optional<Validation> validation = {};  // the last one, also of an earlier session

  double tokens_per_s() const;
};

// What every account of a run tells: steps, tokens, spikes and the last validation.
nlohmann::ordered_json figures_json(const TrainingOutcome& outcome);

// How fast it was, which differs between runs of the same job.
nlohmann::ordered_json timing_json(const TrainingOutcome& outcome);

nlohmann::ordered_json to_json(const TrainingOutcome& outcome);
std::string to_text(const TrainingOutcome& outcome);

// Token shards, every byte of them checked, since what is damaged would be learnt; or texts
// (data/opened_text.h). A warning for shards that do not say which tokenizer made them.
std::vector<TokenShard> open_shards(const std::vector<std::string>& paths, const TextOpening& opening,
                                    const JobControl& control = {});

// The one that a run in `out` reads texts with: `named` as of TrainingJob, or else that of the run which is
// there already. None if neither says.
std::optional<Tokenizer> tokenizer_of_texts(const std::string& named, const std::filesystem::path& out);

// Whatever a run refuses at its start, without writing anything. Bad input if the tokenizer, the data or the
// prompt of samples do not fit the model; a usage error if the run to resume was begun with another
// configuration or tokenizer; a failure if the directory is taken. On several ranks the first one looks, and
// all throw; what they are asked beside it is in train/training_ranks.h.
void check_job(const TrainingJob& job);

// Checks the job before anything is written. If it is cancelled, the step under way is finished and saved,
// and the outcome says so. On several ranks the first one alone looks at the run's directory and writes to
// it; what differs between them (version, configuration, data) is refused before the first step.
TrainingOutcome run_training(Engine& engine, const TrainingJob& job, const JobControl& control = {},
                             const RunObserver& observer = {});

}  // namespace sluice
