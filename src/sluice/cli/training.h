// What the commands that train share: progress, and the figures beside the validation loss.
#pragma once

#include "sluice/cli/command.h"
#include "sluice/train/run.h"

namespace sluice::cli {

// `last`, if given, gets the figures of the last validation.
RunEnd train_with_progress(Run& run, const RunConfig& config, Engine& engine, const Session& session,
                           nlohmann::ordered_json* last = nullptr);

}  // namespace sluice::cli
