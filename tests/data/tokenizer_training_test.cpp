#include "sluice/data/tokenizer_training.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "sluice/base/log.h"
#include "sluice/text/tokenizer.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

class TokenizerTrainings : public testing::Test {
 protected:
  TokenizerTraining training(int64_t vocabulary, std::vector<std::string> special = {}) const {
    return {.files = {directory_.file("a.txt", "abc abc").string()},
            .out = directory_.path() / "t.json",
            .vocabulary = vocabulary,
            .special = std::move(special),
            .end_of_text = false};
  }

  TemporaryDirectory directory_;
};

TEST_F(TokenizerTrainings, write_a_tokenizer_that_can_be_loaded) {
  const TokenizerTraining request = training(259, {"<|end|>"});
  const TrainedTokenizer trained = train_tokenizer(request, Threads(1));
  EXPECT_EQ(to_json(trained),
            (nlohmann::ordered_json{
                {"path", request.out.string()}, {"vocab_size", 259}, {"merges", 2}, {"words", 2}}));
  EXPECT_EQ(Tokenizer::load(request.out).encode("abc<|end|>").size(), 2U);
}

TEST_F(TokenizerTrainings, add_an_end_of_text_unless_there_is_one) {
  TokenizerTraining request = training(260, {"<|pad|>"});
  request.end_of_text = true;
  train_tokenizer(request, Threads(1));
  const Tokenizer tokenizer = Tokenizer::load(request.out);
  EXPECT_EQ(tokenizer.token_to_id("<|endoftext|>"), 258);
  EXPECT_EQ(tokenizer.token_to_id("<|pad|>"), 259);
  EXPECT_TRUE(tokenizer.is_special(258));
  for (const char* own : {"<|endoftext|>", "</s>"}) {
    request.special = {"<|pad|>", own};
    train_tokenizer(request, Threads(1));
    EXPECT_EQ(Tokenizer::load(request.out).special_ids().size(), 2U) << own;
  }
}

TEST_F(TokenizerTrainings, say_so_if_there_is_too_little_text_for_the_vocabulary) {
  std::ostringstream said;
  Log log(LogLevel::Normal, said);
  const TrainedTokenizer trained = train_tokenizer(training(999), Threads(1), {.log = &log});
  EXPECT_LT(trained.vocabulary, 999);
  EXPECT_NE(said.str().find("instead of 999: no other pair occurs twice"), std::string::npos) << said.str();
}

TEST_F(TokenizerTrainings, refuse_what_makes_no_tokenizer) {
  EXPECT_ERROR(train_tokenizer(training(256, {"<x>"}), Threads(1)), ErrorKind::Usage,
               "vocabulary size: expected at least 257: 256 bytes and the special tokens, got 256");
  EXPECT_ERROR(train_tokenizer(training(300, {"<x>", "<x>"}), Threads(1)), ErrorKind::Usage,
               "special token: \"<x>\" is there twice");
  TokenizerTraining empty = training(300);
  empty.files = {directory_.file("empty.txt", "").string()};
  EXPECT_ERROR(train_tokenizer(empty, Threads(1)), ErrorKind::BadInput, empty.files[0] + ": no text in it");
}

}  // namespace
}  // namespace sluice
