// What the commands that train share: a run from its directory to its last figures, with progress on the way.
#pragma once

#include <nlohmann/json.hpp>

#include "sluice/cli/command.h"
#include "sluice/train/run.h"

namespace sluice::cli {

struct TrainingJob {
  RunConfig config;
  std::vector<TokenShard> shards;
  std::filesystem::path out;
  std::filesystem::path tokenizer = {};  // for a new run; one that goes on has its own
  RunStart start = RunStart::New;
};

struct TrainingOutcome {
  RunEnd end = RunEnd::Finished;
  RunState state;
  nlohmann::ordered_json figures;  // of the last validation: loss, pulse, sample; null if there was none

  double tokens_per_s() const {
    return state.seconds > 0 ? static_cast<double>(state.tokens) / state.seconds : 0;
  }
};

// Every byte is checked: what is damaged would be learnt.
std::vector<TokenShard> open_shards(const std::vector<std::string>& paths);

// Bad input if the tokenizer, the data or the prompt of samples do not fit the model, a usage error if the
// run to go on with was another one.
void check_job(const TrainingJob& job);

// Checks the job before anything is written.
TrainingOutcome run_training(const TrainingJob& job, const Session& session);

}  // namespace sluice::cli
