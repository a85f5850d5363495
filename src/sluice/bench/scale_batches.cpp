#include "sluice/bench/scale_batches.h"

#include "sluice/data/random_batch.h"

namespace sluice::bench {

std::vector<Batch> own_batches(const RunConfig& config, const ScaleSetting& setting, const Ranks& ranks,
                               OwnPasses& own) {
  const int64_t passes = setting.order == ReduceOrder::Exact ? setting.passes : ranks.size();
  const Range range = share_of(passes, ranks.rank(), ranks.size());
  own = {.batches = {}, .first = range.begin, .total = passes, .tokens = setting.sequences * config.sequence};
  std::vector<Batch> batches;
  for (int64_t pass = range.begin; pass < range.end; ++pass) {
    const Range sequences{setting.sequences * pass / passes, setting.sequences * (pass + 1) / passes};
    batches.push_back(random_batch({.sequences = sequences.size(),
                                    .length = config.sequence,
                                    .vocabulary = config.model.vocabulary,
                                    .seed = static_cast<uint64_t>(pass)}));
  }
  return batches;
}

}  // namespace sluice::bench
