// The text of an experiment as token shards: made once in the experiments' home, found there afterwards.
#pragma once

#include <filesystem>
#include <string>

#include "sluice/base/job_control.h"
#include "sluice/base/threads.h"
#include "sluice/experiment/experiment.h"

namespace sluice {

struct ExperimentTokens {
  std::filesystem::path tokens;
  std::string tokenizer;  // as Tokenizer::named() takes it
};

// Bad input, with what to do about it, if a text that is somebody's own is not there.
ExperimentTokens prepare_text(const ExperimentText& text, const std::filesystem::path& home,
                              const Threads& threads, const JobControl& control = {});

}  // namespace sluice
