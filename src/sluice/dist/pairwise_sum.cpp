#include "sluice/dist/pairwise_sum.h"

namespace sluice {

std::vector<PassNode> nodes_of(Range range, int64_t passes) {
  struct Nothing {};
  const auto add = [](Nothing, Nothing) { return Nothing{}; };
  PairwiseSum<Nothing, decltype(add)> sum(passes, add);
  for (int64_t pass = range.begin; pass < range.end; ++pass) sum.push(pass, {});
  std::vector<PassNode> nodes;
  for (const auto& term : sum.terms()) nodes.push_back(term.node);
  return nodes;
}

Range share_of(int64_t count, int rank, int ranks) {
  return {count * rank / ranks, count * (rank + 1) / ranks};
}

}  // namespace sluice
