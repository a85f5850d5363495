// The options that train and sweep share: what is trained on what, and where it goes.
#pragma once

#include <string>
#include <vector>

#include "sluice/cli/command.h"
#include "sluice/data/token_shard.h"

namespace sluice::cli {

struct TrainingOptions {
  std::string config, out, tokenizer;
  std::vector<std::string> changes, data, validation;

  // What the options mean to one command.
  struct Texts {
    std::string out, changes;
  };

  // The command's other options come between the two or after them.
  void declare_config(Options& options);
  void declare(Options& options, const Texts& texts);

  // Usage errors if there is nowhere to write to, or nothing to train on.
  void check(const std::string& command) const;

  // Shards and texts of --data or --validation. Texts are tokenized with --tokenizer, or with the tokenizer
  // of the run that is resumed.
  std::vector<TokenShard> open(const std::vector<std::string>& paths, const Session& session) const;

  // The changes of the configuration that the command line asks for, --dtype among them.
  std::vector<std::string> all_changes(const Session& session) const;
};

}  // namespace sluice::cli
