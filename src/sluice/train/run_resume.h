// Finding the checkpoint that a run goes on from: the newest whole one. Only the first rank looks.
#pragma once

#include "sluice/base/job_control.h"
#include "sluice/train/run_config.h"
#include "sluice/train/run_directory.h"

namespace sluice {

struct ResumeRequest {
  Engine& engine;
  const RunConfig& config;
  const Decoder& decoder;
  const RunDirectory& directory;
  int64_t epoch_sequences;           // of the training text
  const std::vector<int64_t>& data;  // checksums of the shards
};

// None if there is no checkpoint yet. Bad input if the data are others, a failure if all checkpoints are
// damaged; those before the one that is taken are set aside.
std::optional<StoredCheckpoint> newest_checkpoint(const ResumeRequest& request, const JobControl& control);

}  // namespace sluice
