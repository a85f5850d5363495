#include "sluice/base/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace sluice {
namespace {

const std::vector<std::string> kKeys = {"layers", "heads", "hidden", "learning_rate", "no"};

TEST(Nearest, ForgivesOneInsertionDeletionOrReplacement) {
  EXPECT_EQ(nearest("layerss", kKeys), "layers");
  EXPECT_EQ(nearest("layer", kKeys), "layers");
  EXPECT_EQ(nearest("hedds", kKeys), "heads");
}

TEST(Nearest, CountsASwapOfNeighboursOnce) {
  // As two replacements, "abdc" would lose to the one of "abzd".
  const std::vector<std::string> words = {"abdc", "abzd"};
  EXPECT_EQ(nearest("abcd", words), "abdc");
}

TEST(Nearest, AllowsMoreEditsInLongWords) {
  EXPECT_EQ(nearest("lernig_rat", kKeys), "learning_rate");
}

TEST(Nearest, IsEmptyWhenNothingIsClose) {
  EXPECT_EQ(nearest("temperature", kKeys), "");
  EXPECT_EQ(nearest("hexxxs", kKeys), "");
  EXPECT_EQ(nearest("layers", {}), "");
}

TEST(Nearest, IsEmptyWhenNoLetterIsShared) {
  EXPECT_EQ(nearest("x", kKeys), "");
  EXPECT_EQ(nearest("", kKeys), "");
}

TEST(Nearest, PrefersTheFirstOfEquals) {
  const std::vector<std::string> words = {"cat", "car"};
  EXPECT_EQ(nearest("caz", words), "cat");
}

TEST(Nearest, PrefersTheExactWord) {
  const std::vector<std::string> words = {"heat", "head", "heads"};
  EXPECT_EQ(nearest("head", words), "head");
}

TEST(Nearest, RefusesAHugeWordWithoutComparingIt) {
  EXPECT_EQ(nearest(std::string(50'000'000, 'l'), kKeys), "");
}

TEST(DidYouMean, IsAQuestionOrNothing) {
  EXPECT_EQ(did_you_mean("layer", kKeys), "did you mean \"layers\"?");
  EXPECT_EQ(did_you_mean("temperature", kKeys), "");
}

TEST(DidYouMean, KnowsAbbreviations) {
  const std::vector<std::string> options = {"--temperature", "--tokens", "--tokenizer", "--top-k", "--help"};
  EXPECT_EQ(did_you_mean("--temp", options), "did you mean \"--temperature\"?");
  EXPECT_EQ(did_you_mean("--tok", options), "did you mean \"--tokens\" or \"--tokenizer\"?");
  EXPECT_EQ(did_you_mean("--t", options), "") << "one letter says nothing";
  EXPECT_EQ(did_you_mean("learn", kKeys), "did you mean \"learning_rate\"?");
}

TEST(DidYouMean, ListsNoMoreThanAPersonReads) {
  const std::vector<std::string> many = {"--ab1", "--ab2", "--ab3", "--ab4", "--ab5"};
  EXPECT_EQ(did_you_mean("--ab", many), "did you mean \"--ab1\"?");
}

TEST(IsMisspelt, AllowsTwoEditsAndAThirdOfTheWord) {
  EXPECT_TRUE(is_misspelt("rms_norm_epss", "rms_norm_eps"));
  EXPECT_TRUE(is_misspelt("hidden_szie", "hidden_size"));
  EXPECT_FALSE(is_misspelt("hidden_size", "hidden_size")) << "that is the word itself";
  EXPECT_FALSE(is_misspelt("bos_token", "bos_token_id"));
  EXPECT_FALSE(is_misspelt("initializer_factor", "initializer_range"));
  EXPECT_FALSE(is_misspelt("tips", "topk")) << "half of a short word";
  EXPECT_FALSE(is_misspelt(std::string(1 << 20, 'x'), "hidden_size"));
}

}  // namespace
}  // namespace sluice
