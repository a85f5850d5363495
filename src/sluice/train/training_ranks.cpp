#include "sluice/train/training_ranks.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "sluice/dist/fingerprint.h"
#include "sluice/text/tokenizer.h"

namespace sluice {
namespace {

// The settings with a value that would do: the fewest passes that all ranks have as many of, or else the
// fewest of which every rank has one. None if the batch cannot be cut like that.
std::optional<std::string> fitting_passes(const RunConfig& config, int64_t ranks, bool equal_shares) {
  const int64_t sequences = config.batch_tokens / config.sequence;
  const auto find = [&](bool equal) -> std::optional<std::string> {
    for (int64_t passes = ranks; passes <= sequences; ++passes) {
      if (sequences % passes != 0 || (equal && passes % ranks != 0)) continue;
      return fmt::format("--set pass_tokens={} gives it {}", config.batch_tokens / passes, passes);
    }
    return {};
  };
  const auto equal = find(true);
  return equal || equal_shares ? equal : find(false);
}

std::string counted(int64_t count, bool passes) {
  return fmt::format("{} {}{}", count, passes ? "pass" : "sequence", count == 1 ? "" : (passes ? "es" : "s"));
}

// Every rank has a pass at least, or a sequence if passes may be cut.
void check_shares(const TrainingJob& job) {
  const RunConfig& config = job.config;
  const int64_t ranks = job.ranks.ranks.get().size();
  const bool exact = job.ranks.order == ReduceOrder::Exact;
  const int64_t sequences = config.batch_tokens / config.sequence;
  const int64_t shares = exact ? config.batch_tokens / config.pass_tokens : sequences;
  if (ranks <= shares) return;
  const auto fitting = fitting_passes(config, ranks, false);
  throw usage_error(
      {.where = fmt::format("{} ranks", ranks),
       .what = fmt::format("a step has {}, and every rank takes one at least", counted(shares, exact)),
       .hint = fitting ? *fitting + "; --reduce fast shares out sequences"
                       : fmt::format("a larger batch_tokens, or at most {} {}", sequences,
                                     sequences == 1 ? "rank" : "ranks")});
}

// Where experts are spread, ranks take their passes at the same time, and each needs as many.
void check_spread(const TrainingJob& job) {
  if (job.ranks.experts == ExpertPlacement::Everywhere) return;
  const RunConfig& config = job.config;
  if (!config.model.moe) throw usage_error({.where = "--experts spread", .what = "the model has no experts"});
  const int64_t ranks = job.ranks.ranks.get().size();
  const int64_t experts = config.model.moe->experts;
  if (experts < ranks) {
    throw usage_error({.where = fmt::format("{} ranks", ranks),
                       .what = fmt::format("--experts spread gives each rank experts of its own, and there "
                                           "are {}",
                                           experts),
                       .hint = "--experts everywhere gives all of them to every rank"});
  }
  const bool exact = job.ranks.order == ReduceOrder::Exact;
  const int64_t shares = config.batch_tokens / (exact ? config.pass_tokens : config.sequence);
  if (shares % ranks == 0) return;
  const auto fitting = exact ? fitting_passes(config, ranks, true) : std::nullopt;
  throw usage_error(
      {.where = fmt::format("{} ranks", ranks),
       .what = fmt::format("--experts spread needs as many {} on every rank, and a step has {}",
                           exact ? "passes" : "sequences", shares),
       .hint = fmt::format(
           "{}; with --experts everywhere ranks may have more or fewer than others",
           fitting ? *fitting : fmt::format("the sequences of a batch must be a multiple of {}", ranks))});
}

// What the checkpoints will say of their tokens; the first rank's is used.
std::string tokenizer_print(const TrainingJob& job) {
  if (job.tokenizer.empty()) return "none";
  return fingerprint_text(Tokenizer::named(job.tokenizer).fingerprint());
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
                                     {"--tokenizer", tokenizer_print(job)},
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
  if (ranks.size() == 1) return check_spread(job);
  check_same_version(ranks);
  std::vector<Fingerprint> prints;
  together(ranks, [&] {
    check_shares(job);
    check_spread(job);
    prints = fingerprints_of(engine, job);
  });
  check_same_everywhere(ranks, prints);
}

void tell_ranks(const Engine& engine, const TrainingJob& job, const JobControl& control) {
  const bool exact = job.ranks.order == ReduceOrder::Exact;
  const bool spread = job.ranks.experts == ExpertPlacement::Spread;
  if (job.ranks.ranks.get().size() == 1) {
    if (spread) control.warn("--experts spread has no effect: there is one rank, and it has all experts");
    return;
  }
  control.info("{} ranks, {} threads each here; gradients are added in the {} order{}{}",
               job.ranks.ranks.get().size(), engine.threads().count(), name_of(job.ranks.order),
               exact ? ": the same bits for any number of ranks" : "",
               spread ? "; each rank has some of the experts" : "");
}

}  // namespace sluice
