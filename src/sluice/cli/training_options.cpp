#include "sluice/cli/training_options.h"

#include <fmt/format.h>

#include "sluice/base/error.h"
#include "sluice/cli/use_case.h"
#include "sluice/train/training.h"

namespace sluice::cli {

void TrainingOptions::declare_config(Options& options) {
  options.argument({.name = "CONFIG",
                    .value = "",
                    .text = "A run's configuration: a file, or a preset (sluice help presets)"},
                   Presence::Required, config);
}

void TrainingOptions::declare(Options& options, const Texts& texts) {
  options.list({.name = "--data",
                .value = "FILE...",
                .text = "Token shards of sluice data tokenize, or texts, which are tokenized first"},
               data);
  options.list(
      {.name = "--validation",
       .value = "FILE...",
       .text = "Shards or texts to validate on, instead of a part of --data that is kept out of training"},
      validation);
  options.text({.name = "--tokenizer",
                .value = "FILE|bytes",
                .text = "What the tokens stand for: tokenizer.json for the checkpoints"},
               tokenizer);
  options.text({.name = "--out", .value = "DIR", .text = texts.out}, out);
  options.repeated({.name = "--set", .value = "A.B=V", .text = texts.changes}, changes);
}

void TrainingOptions::check(const std::string& command) const {
  if (out.empty()) throw usage_error({.where = command, .what = "--out is required"});
  if (data.empty()) {
    throw usage_error({.where = command,
                       .what = "--data is required",
                       .hint = "sluice data tokenize makes token shards from text"});
  }
}

std::vector<TokenShard> TrainingOptions::open(const std::vector<std::string>& paths,
                                              const Session& session) const {
  const Threads threads(session.options.threads);
  return open_shards(paths, {.tokenizer = tokenizer_of_texts(tokenizer, out), .threads = threads},
                     job_control(session));
}

std::vector<std::string> TrainingOptions::all_changes(const Session& session) const {
  std::vector<std::string> all = changes;
  if (!session.options.dtype.empty()) all.push_back(fmt::format("dtype={}", session.options.dtype));
  return all;
}

}  // namespace sluice::cli
