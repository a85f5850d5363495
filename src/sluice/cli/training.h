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

// Bad input before anything is written if the tokenizer or the data do not fit the model, a usage error if
// the run to go on with was another one.
TrainingOutcome run_training(const TrainingJob& job, const Session& session);

}  // namespace sluice::cli
