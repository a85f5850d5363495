// sluice tokenizer as a black box: encode, decode, train.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/base/temporary_directory.h"
#include "tests/cli/expect_refusal.h"

namespace sluice::test {
namespace {

using Json = nlohmann::json;

std::string content_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class TokenizerCommand : public testing::Test {
 protected:
  TokenizerCommand() {
    text_ = directory_.file("text.txt", "the cat and the hat and the bat\nthe cat and the hat\n").string();
  }

  ProgramRun run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "tokenizer");
    return run_sluice(arguments);
  }

  std::string printed(const std::vector<std::string>& arguments) const {
    const ProgramRun result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return result.out;
  }

  std::string train(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"train", text_, "--vocab-size", "265", "--out", path("t.json")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return printed(arguments);
  }

  std::string path(const std::string& name = "") const { return (directory_.path() / name).string(); }
  std::string file(const std::string& name, const std::string& content) const {
    return directory_.file(name, content).string();
  }

 private:
  TemporaryDirectory directory_;
  std::string text_;
};

TEST_F(TokenizerCommand, encodes_a_text) {
  EXPECT_EQ(printed({"encode", "bytes", "--text", "a b"}), "97 32 98\n");
  EXPECT_EQ(printed({"encode", "bytes", "--text", "a b", "--json"}), "{\"ids\":[97,32,98]}\n");
  EXPECT_EQ(printed({"encode", "bytes", "--text", "", "--json"}), "{\"ids\":[]}\n");
  EXPECT_EQ(printed({"encode", "bytes", "--json"}), "{\"ids\":[]}\n") << "standard input is empty";
}

TEST_F(TokenizerCommand, encodes_lines) {
  const std::string lines =
      file("in.jsonl", "{\"text\":\"a\"}\n\n{\"text\":\"\\u00e9\",\"more\":1}\n{\"text\":\"\"}");
  EXPECT_EQ(printed({"encode", "bytes", "--jsonl", lines}),
            "{\"ids\":[97]}\n{\"ids\":[195,169]}\n{\"ids\":[]}\n");
  EXPECT_EQ(Json::parse(printed({"encode", "bytes", "--jsonl", lines, "--json"}))["lines"].size(), 3U);
}

TEST_F(TokenizerCommand, decodes_ids) {
  EXPECT_EQ(printed({"decode", "bytes", "--ids", "97,32,98"}), "a b\n");
  EXPECT_EQ(printed({"decode", "bytes", "--ids", "97 255", "--json"}), "{\"text\":\"a\uFFFD\"}\n");
  const std::string lines = file("in.jsonl", "{\"ids\":[97]}\n{\"ids\":[195,169]}\n");
  EXPECT_EQ(printed({"decode", "bytes", "--jsonl", lines}), "{\"text\":\"a\"}\n{\"text\":\"\u00e9\"}\n");
}

TEST_F(TokenizerCommand, trains_a_tokenizer_that_it_can_use) {
  EXPECT_EQ(train({"--special", "<|end|>", "--special", "[PAD]"}),
            path("t.json") + ": 265 tokens, 7 merges, from 7 different words\n");
  const Json file = Json::parse(content_of(path("t.json")));
  EXPECT_EQ(file["model"]["vocab"].size(), 263U);
  EXPECT_EQ(file["added_tokens"][1]["content"], "[PAD]");
  const Json encoded =
      Json::parse(printed({"encode", path("t.json"), "--text", "the cat<|end|>[PAD]", "--json"}))["ids"];
  EXPECT_LT(encoded.size(), 8U);
  std::string ids;
  for (const Json& id : encoded) ids += (ids.empty() ? "" : ",") + id.dump();
  EXPECT_EQ(printed({"decode", path("t.json"), "--ids", ids}), "the cat<|end|>[PAD]\n");
  EXPECT_EQ(printed({"decode", path("t.json"), "--ids", ids, "--skip-special"}), "the cat\n");
}

TEST_F(TokenizerCommand, trains_on_lines_of_json_from_standard_input_if_told_to) {
  const std::string lines = file("in", "{\"text\":\"the cat and the hat\"}\n{\"text\":\"the cat\"}\n");
  const auto words = [&](const char* format) {
    const ProgramRun result = run_sluice({"tokenizer", "train", "-", "--format", format, "--vocab-size",
                                          "257", "--out", path("t.json"), "--json"},
                                         {.input_file = lines});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return Json::parse(result.out)["words"].get<int>();
  };
  EXPECT_EQ(words("jsonl"), 5) << "the, cat, and, the, hat: a word has the space before it";
  EXPECT_GT(words("text"), 5) << "names and quotes are words, too";
  EXPECT_REFUSAL(run({"encode", "bytes", "--format", "text"}), 2, "--format is for train");
}

TEST_F(TokenizerCommand, trains_the_same_with_any_number_of_threads) {
  train({"--threads", "1"});
  const std::string one = content_of(path("t.json"));
  train({"--threads", "4"});
  EXPECT_EQ(content_of(path("t.json")), one);
}

TEST_F(TokenizerCommand, tells_the_result_of_training_as_json) {
  const Json result = Json::parse(train({"--json", "--pattern", "gpt2"}));
  EXPECT_EQ(result["vocab_size"], 265);
  EXPECT_EQ(result["merges"], 9);
}

TEST_F(TokenizerCommand, says_when_the_text_is_too_small) {
  const ProgramRun result =
      run({"train", file("s.txt", "ab ab"), "--vocab-size", "999", "--out", path("t.json")});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.err.find("warning: 257 tokens instead of 999"), std::string::npos) << result.err;
}

TEST_F(TokenizerCommand, refuses_wrong_use) {
  const std::string model = "bytes";
  EXPECT_REFUSAL(run({}), 2, "ACTION is required");
  EXPECT_REFUSAL(run({"encod", model}), 2, "did you mean \"encode\"?");
  EXPECT_REFUSAL(run({"encode"}), 2, "FILE... is required");
  EXPECT_REFUSAL(run({"encode", model, model}), 2, "encode takes one tokenizer, got 2");
  EXPECT_REFUSAL(run({"encode", model, "--ids", "1"}), 2, "--ids is for decode");
  EXPECT_REFUSAL(run({"decode", model, "--text", "a"}), 2, "--text is for encode");
  EXPECT_REFUSAL(run({"encode", model, "--vocab-size", "300"}), 2, "--vocab-size is for train");
  EXPECT_REFUSAL(run({"encode", model, "--text", "a", "--jsonl", "f"}), 2, "exclude each other");
  EXPECT_REFUSAL(run({"decode", model, "--ids", "1,x"}), 2,
                 "bad token id: expected integer from 0 to 255, got \"x\"");
  EXPECT_REFUSAL(run({"train", "f"}), 2, "train needs --vocab-size and --out");
  const std::vector<std::string> small = {"train",        "f",   "--out",     "g",
                                          "--vocab-size", "256", "--special", "<x>"};
  EXPECT_REFUSAL(run(small), 2, "vocabulary size: expected at least 257");
  EXPECT_REFUSAL(run({"train", "f", "--out", "g", "--vocab-size", "10"}), 2,
                 "from 256 to 16777216, got \"10\"");
}

TEST_F(TokenizerCommand, refuses_bad_input) {
  const std::string model = "bytes";
  EXPECT_REFUSAL(run({"encode", path("gone.json"), "--text", "a"}), 3, "gone.json: cannot open");
  EXPECT_REFUSAL(run({"encode", file("bad.json", "{"), "--text", "a"}), 3, "bad.json: line 1, column 2");
  EXPECT_REFUSAL(run({"decode", model, "--ids", "256"}), 2, "expected integer from 0 to 255, got \"256\"");
  EXPECT_REFUSAL(run({"decode", model, "--ids", "-1"}), 2, "expected integer from 0 to 255, got \"-1\"");
  const std::string lines = file("in.jsonl", "{\"text\":\"a\"}\n{\"text\":1}\n");
  EXPECT_REFUSAL(run({"encode", model, "--jsonl", lines}), 3,
                 "in.jsonl: line 2: text: expected string, got 1");
  const std::string ids = file("ids.jsonl", "{\"ids\":[1,300]}\n");
  EXPECT_REFUSAL(run({"decode", model, "--jsonl", ids}), 3, "ids.jsonl: line 1: ids[1]: expected integer");
  EXPECT_REFUSAL(run({"train", path("gone.txt"), "--vocab-size", "300", "--out", path("t.json")}), 3,
                 "cannot open");
  EXPECT_FALSE(std::filesystem::exists(path("t.json")));
}

TEST_F(TokenizerCommand, fails_where_it_cannot_write) {
  const std::string text = file("s.txt", "ab ab");
  EXPECT_REFUSAL(run({"train", text, "--vocab-size", "257", "--out", path("gone/t.json")}), 1, "gone/t.json");
}

}  // namespace
}  // namespace sluice::test
