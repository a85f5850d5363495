#include "sluice/data/tokenizer_match.h"
#include "sluice/train/run.h"

namespace sluice {
namespace {

SplitOptions split_options(const RunConfig& config) {
  const RunConfig::Validation& validation = config.validation;
  return {.validation_share = validation.share, .seed = validation.seed, .rule = validation.split};
}

PackedSequences whole(const RunConfig& config, const std::vector<TokenShard>& shards) {
  return PackedSequences(shards, {.length = config.sequence});
}

PackedSequences part(const RunConfig& config, const std::vector<TokenShard>& shards, Split split) {
  return PackedSequences(shards,
                         {.length = config.sequence, .split = split, .kept_out = split_options(config)});
}

RunText split_text(const RunConfig& config, const std::vector<TokenShard>& shards,
                   const std::vector<TokenShard>& validation) {
  if (!validation.empty())
    return {.training = whole(config, shards), .validation = whole(config, validation)};
  RunText text{.training = part(config, shards, Split::Training), .validation = {}};
  if (config.validation.share > 0) text.validation = part(config, shards, Split::Validation);
  return text;
}

}  // namespace

RunText text_of(const RunConfig& config, const std::vector<TokenShard>& shards,
                const std::vector<TokenShard>& validation) {
  RunText text = split_text(config, shards, validation);
  std::vector<TokenShard> all = shards;
  all.insert(all.end(), validation.begin(), validation.end());
  check_one_tokenizer(all);
  check_fits(all, config.model.vocabulary);
  return text;
}

std::optional<HeldOut> held_out_of(const RunConfig& config, const std::vector<TokenShard>& shards,
                                   const std::vector<TokenShard>& validation) {
  if (!validation.empty()) return held_out_whole(validation, config.sequence);
  if (config.validation.share == 0) return {};
  return held_out_of(shards, config.sequence, split_options(config));
}

}  // namespace sluice
