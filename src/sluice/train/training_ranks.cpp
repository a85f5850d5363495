#include "sluice/train/training_ranks.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sluice/dist/fingerprint.h"

namespace sluice {
namespace {

// Every rank has a pass at least, or a sequence if passes may be cut.
void check_shares(const TrainingJob& job) {
  const RunConfig& config = job.config;
  const int64_t ranks = job.ranks.ranks.get().size();
  const bool exact = job.ranks.order == ReduceOrder::Exact;
  const int64_t sequences = config.batch_tokens / config.sequence;
  const int64_t shares = exact ? config.batch_tokens / config.pass_tokens : sequences;
  if (ranks <= shares) return;
  const bool has_sequences = ranks <= sequences;
  throw usage_error(
      {.where = fmt::format("{} ranks", ranks),
       .what = fmt::format("a step has {} {}{}", shares, exact ? "pass" : "sequence",
                           shares == 1 ? "" : (exact ? "es" : "s")),
       .hint = has_sequences
                   ? fmt::format("--set pass_tokens={} gives it {}; --reduce fast shares out sequences",
                                 config.sequence, sequences)
                   : fmt::format("a larger batch_tokens, or at most {} ranks", sequences)});
}

// Where experts are spread, ranks take their passes at the same time, and each needs as many.
void check_equal_shares(const TrainingJob& job) {
  const RunConfig& config = job.config;
  if (job.ranks.experts == ExpertPlacement::Everywhere || !config.model.moe) return;
  const int64_t ranks = job.ranks.ranks.get().size();
  const bool exact = job.ranks.order == ReduceOrder::Exact;
  const int64_t shares = config.batch_tokens / (exact ? config.pass_tokens : config.sequence);
  if (shares % ranks == 0 && config.model.moe->experts >= ranks) return;
  throw usage_error({.where = fmt::format("{} ranks", ranks),
                     .what = fmt::format("experts are spread over ranks that have some each and as many {}; "
                                         "there are {} experts, and a step has {}",
                                         exact ? "passes" : "sequences", config.model.moe->experts, shares),
                     .hint = "--experts everywhere takes any number"});
}

// What all ranks must have alike.
std::vector<Fingerprint> fingerprints_of(const Engine& engine, const TrainingJob& job) {
  const auto checksums = [](const std::vector<TokenShard>& shards) {
    std::string text;
    for (const TokenShard& shard : shards) {
      text += fmt::format("{}{} tokens, checksum {:08x}", text.empty() ? "" : "; ", shard.info().tokens,
                          shard.info().checksum);
    }
    return text;
  };
  std::vector<Fingerprint> prints = {{"configuration", run_config_json(job.config).dump()},
                                     {"data", checksums(job.shards)},
                                     {"validation data", checksums(job.validation)},
                                     {"--out", job.out.string()},
                                     {"--reduce", std::string(name_of(job.ranks.order))},
                                     {"--experts", std::string(name_of(job.ranks.experts))}};
  // Kernels of different sets differ in the last bits; the fast order does not promise them.
  if (job.ranks.order == ReduceOrder::Exact)
    prints.push_back({"instruction set (--isa chooses one, --reduce fast takes any)",
                      std::string(name_of(engine.isa().isa))});
  return prints;
}

}  // namespace

void check_ranks(const Engine& engine, const TrainingJob& job) {
  Ranks& ranks = job.ranks.ranks;
  if (ranks.size() == 1) return;
  check_same_version(ranks);
  together(ranks, [&] {
    check_shares(job);
    check_equal_shares(job);
  });
  check_same_everywhere(ranks, fingerprints_of(engine, job));
}

void tell_ranks(const Engine& engine, const TrainingJob& job, const JobControl& control) {
  const bool exact = job.ranks.order == ReduceOrder::Exact;
  const bool spread = job.config.model.moe && job.ranks.experts == ExpertPlacement::Spread;
  control.info("{} ranks, {} threads each here; gradients are added in the {} order{}{}",
               job.ranks.ranks.get().size(), engine.threads().count(), name_of(job.ranks.order),
               exact ? ": the same bits for any number of ranks" : "",
               spread ? "; each rank has some of the experts" : "");
}

}  // namespace sluice
