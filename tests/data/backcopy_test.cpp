#include "sluice/data/backcopy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

namespace sluice {
namespace {

constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

TEST(Backcopy, has_six_triggers_that_depend_on_the_seed) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const BackcopyChain chain(seed);
    std::string triggers;
    for (const char letter : kAlphabet)
      if (chain.is_trigger(letter)) triggers += letter;
    EXPECT_EQ(triggers.size(), BackcopyChain::kTriggers);
    seen.insert(triggers);
  }
  EXPECT_EQ(seen.size(), 5U);
}

TEST(Backcopy, repeats_the_letter_before_a_trigger) {
  const BackcopyChain chain(1);
  int copies = 0;
  for (uint64_t index = 0; index < 50; ++index) {
    const std::string text = chain.document(index, 126);
    ASSERT_EQ(text.size(), 127U);
    ASSERT_EQ(text[0], BackcopyChain::kStart);
    for (size_t i = 3; i < text.size(); ++i) {
      if (!chain.is_trigger(text[i - 1])) continue;
      ASSERT_EQ(text[i], text[i - 2]) << text << " at " << i;
      ++copies;
    }
  }
  EXPECT_GT(copies, 100);
}

TEST(Backcopy, has_probabilities_that_add_up_and_are_those_of_its_documents) {
  const BackcopyChain chain(2);
  std::map<char, double> counts;
  double behind = 0;
  for (uint64_t index = 0; index < 2000; ++index) {
    const std::string text = chain.document(index, 1);
    counts[text[1]] += 1;
    behind += 1;
  }
  double sum = 0;
  for (const char letter : kAlphabet) {
    const double expected = chain.probability("^", letter);
    sum += expected;
    // Four standard deviations of a count.
    EXPECT_NEAR(counts[letter] / behind, expected, 4 * std::sqrt(expected / behind) + 1e-3) << letter;
  }
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(Backcopy, is_sparse_and_certain_of_copies) {
  const BackcopyChain chain(3);
  char trigger = 0, other = 0;
  for (const char letter : kAlphabet) (chain.is_trigger(letter) ? trigger : other) = letter;
  const std::string before = {'^', other, trigger};
  EXPECT_TRUE(chain.is_copied(before));
  EXPECT_EQ(chain.probability(before, other), 1);
  EXPECT_EQ(chain.probability(before, trigger), 0);
  EXPECT_FALSE(chain.is_copied(std::string{'^', trigger})) << "nothing to copy yet";
  // Entropy of a row: far below the log of 52 letters, 3.95.
  double entropy = 0;
  for (const char letter : kAlphabet) {
    const double p = chain.probability(std::string{'^', other}, letter);
    if (p > 0) entropy -= p * std::log(p);
  }
  EXPECT_GT(entropy, 0.3);
  EXPECT_LT(entropy, 3.2);
}

TEST(Backcopy, gives_the_same_document_again) {
  EXPECT_EQ(BackcopyChain(4).document(7, 60), BackcopyChain(4).document(7, 60));
  EXPECT_NE(BackcopyChain(4).document(7, 60), BackcopyChain(4).document(8, 60));
  EXPECT_NE(BackcopyChain(4).document(7, 60), BackcopyChain(5).document(7, 60));
}

}  // namespace
}  // namespace sluice
