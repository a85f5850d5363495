#include "sluice/dist/pairwise_sum.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice {
namespace {

struct JoinTexts {
  std::string operator()(const std::string& left, const std::string& right) const {
    return "(" + left + right + ")";
  }
};
using TextSum = PairwiseSum<std::string, JoinTexts>;

std::string letter(int64_t pass) {
  return {static_cast<char>('a' + pass)};
}

// The order of the sum over `passes` letters if so many ranks have a share each.
std::string order_of_sum(int64_t passes, int ranks) {
  TextSum whole(passes, {});
  for (int rank = 0; rank < ranks; ++rank) {
    TextSum own(passes, {});
    const Range range = share_of(passes, rank, ranks);
    for (int64_t pass = range.begin; pass < range.end; ++pass) own.push(pass, letter(pass));
    const std::vector<PassNode> nodes = nodes_of(range, passes);
    EXPECT_EQ(nodes.size(), own.terms().size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      EXPECT_EQ(nodes[i], own.terms()[i].node);
      whole.push(nodes[i], own.terms()[i].value);
    }
  }
  EXPECT_EQ(whole.terms().size(), 1U) << passes << " passes on " << ranks << " ranks";
  return whole.terms().front().value;
}

TEST(PairwiseSum, adds_neighbours_first) {
  EXPECT_EQ(order_of_sum(1, 1), "a");
  EXPECT_EQ(order_of_sum(2, 1), "(ab)");
  EXPECT_EQ(order_of_sum(3, 1), "((ab)c)");
  EXPECT_EQ(order_of_sum(4, 1), "((ab)(cd))");
  EXPECT_EQ(order_of_sum(7, 1), "(((ab)(cd))((ef)g))");
}

TEST(PairwiseSum, has_the_same_order_on_any_number_of_ranks) {
  for (int64_t passes = 1; passes <= 20; ++passes)
    for (int ranks = 2; ranks <= passes; ++ranks)
      EXPECT_EQ(order_of_sum(passes, ranks), order_of_sum(passes, 1)) << passes << " on " << ranks;
}

TEST(PairwiseSum, keeps_few_values_at_a_time) {
  constexpr int64_t kPasses = 1000;
  TextSum sum(kPasses, {});
  size_t most = 0;
  for (int64_t pass = 0; pass < kPasses; ++pass) {
    sum.push(pass, "x");
    most = std::max(most, sum.terms().size());
  }
  EXPECT_LE(most, 10U) << "log2 of 1000";
  EXPECT_LE(nodes_of({333, 666}, kPasses).size(), 20U);
}

TEST(Shares, are_contiguous_and_differ_by_one_at_most) {
  for (const int64_t count : {1, 4, 5, 16, 17}) {
    for (int ranks = 1; ranks <= count; ++ranks) {
      int64_t next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const Range range = share_of(count, rank, ranks);
        EXPECT_EQ(range.begin, next);
        EXPECT_GE(range.size(), count / ranks);
        EXPECT_LE(range.size(), count / ranks + 1);
        next = range.end;
      }
      EXPECT_EQ(next, count);
    }
  }
}

}  // namespace
}  // namespace sluice
