// sluice data as a black box: synth, tokenize, info.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/base/temporary_directory.h"
#include "tests/cli/expect_refusal.h"
#include "tests/data/gzip_bytes.h"

namespace sluice::test {
namespace {

using Json = nlohmann::json;

std::string content_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<Json> lines_of(const std::string& content) {
  std::vector<Json> lines;
  std::istringstream in(content);
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  return lines;
}

class DataCommand : public testing::Test {
 protected:
  ProgramRun run(std::vector<std::string> arguments, const RunOptions& options = {}) const {
    arguments.insert(arguments.begin(), "data");
    return run_sluice(arguments, options);
  }

  std::string printed(const std::vector<std::string>& arguments, const RunOptions& options = {}) const {
    const ProgramRun result = run(arguments, options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return result.out;
  }

  std::string path(const std::string& name = "") const { return (directory_.path() / name).string(); }
  std::string file(const std::string& name, const std::string& content) const {
    return directory_.file(name, content).string();
  }
  size_t entries() const { return directory_.entries(); }

 private:
  TemporaryDirectory directory_;
};

TEST_F(DataCommand, makes_documents_of_all_kinds) {
  const Json result =
      Json::parse(printed({"synth", "--out", path("a.jsonl"), "--documents", "12", "--json"}));
  const std::vector<Json> lines = lines_of(content_of(path("a.jsonl")));
  ASSERT_EQ(lines.size(), 12U);
  std::set<std::string> kinds;
  size_t bytes = 0;
  for (const Json& line : lines) {
    EXPECT_EQ(line.size(), 2U);
    kinds.insert(line["kind"]);
    bytes += line["text"].get<std::string>().size();
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"story", "fact", "technical", "dialogue", "code", "repetitive"}));
  EXPECT_EQ(result["documents"], 12);
  EXPECT_EQ(result["bytes"], bytes);
  EXPECT_EQ(result["path"], path("a.jsonl"));
}

TEST_F(DataCommand, makes_only_the_kinds_that_are_asked_for) {
  printed({"synth", "--kind", "code", "story", "--out", path("a.jsonl"), "--documents", "4"});
  for (const Json& line : lines_of(content_of(path("a.jsonl"))))
    EXPECT_TRUE(line["kind"] == "code" || line["kind"] == "story") << line;
}

TEST_F(DataCommand, makes_as_much_text_as_is_asked_for) {
  const Json result = Json::parse(printed({"synth", "--out", path("a.txt"), "--bytes", "20000", "--json"}));
  EXPECT_GE(result["bytes"], 20000);
  EXPECT_LT(result["bytes"], 22000);
  EXPECT_EQ(content_of(path("a.txt")).size(),
            result["bytes"].get<size_t>() + result["documents"].get<size_t>())
      << "a blank line behind each";
  EXPECT_EQ(printed({"synth", "--out", path("b.txt"), "--documents", "1"}).substr(0, path("b.txt").size()),
            path("b.txt"));
}

TEST_F(DataCommand, makes_the_same_for_the_same_seed) {
  const auto made = [&](const char* name, const char* seed) {
    printed({"synth", "--out", path(name), "--documents", "30", "--seed", seed});
    return content_of(path(name));
  };
  const std::string first = made("a.jsonl", "5");
  EXPECT_EQ(made("b.jsonl", "5"), first);
  EXPECT_NE(made("c.jsonl", "6"), first);
}

TEST_F(DataCommand, turns_text_into_a_shard) {
  const std::string a = file("a.txt", "one two"),
                    b = file("b.jsonl", "{\"text\":\"x\"}\n{\"text\":\"\"}\n{\"text\":\"yz\"}\n");
  EXPECT_EQ(printed({"tokenize", "bytes", a, b, "--out", path("s.tokens")}),
            path("s.tokens") + ": 13 tokens in 3 documents, from 10 bytes of text\n");
  const Json info = Json::parse(printed({"info", path("s.tokens"), "--json"}));
  const Json expected = {{"path", path("s.tokens")}, {"tokens", 13},           {"documents", 3},
                         {"vocabulary", 256},        {"end_of_text", 0},       {"bytes_per_token", 2},
                         {"text_bytes", 10},         {"shortest_document", 2}, {"longest_document", 8}};
  EXPECT_EQ(info, expected);
  const std::string text = printed({"info", path("s.tokens")});
  EXPECT_NE(text.find("13 of 2 bytes each"), std::string::npos) << text;
  EXPECT_NE(text.find("checksum        right"), std::string::npos) << text;
}

TEST_F(DataCommand, reads_packed_text_and_standard_input) {
  const std::string packed = file("a.txt.gz", gzipped("packed"));
  const std::string input = file("in.txt", "from a pipe");
  const Json result = Json::parse(printed(
      {"tokenize", "bytes", packed, "-", "--out", path("s.tokens"), "--json"}, {.input_file = input}));
  EXPECT_EQ(result["documents"], 2);
  EXPECT_EQ(result["text_bytes"], 6 + 11);
}

TEST_F(DataCommand, reads_lines_of_json_from_standard_input_if_told_to) {
  const std::string lines = "{\"text\":\"one\"}\n{\"text\":\"two\"}\n";
  const auto documents = [&](const char* format) {
    const Json result = Json::parse(
        printed({"tokenize", "bytes", "-", "--format", format, "--out", path("s.tokens"), "--json"},
                {.input_file = file("in", lines)}));
    return std::pair(result["documents"].get<int>(), result["text_bytes"].get<size_t>());
  };
  EXPECT_EQ(documents("jsonl"), std::pair(2, size_t{6}));
  EXPECT_EQ(documents("text"), std::pair(1, lines.size()));
  EXPECT_EQ(documents("auto"), std::pair(1, lines.size()));
  EXPECT_REFUSAL(run({"tokenize", "bytes", "-", "--format", "jsonl", "--out", path("s.tokens")},
                     {.input_file = file("bad", "{\"text\":\"one\"}\ntwo\n")}),
                 3, "standard input: line 2");
  EXPECT_REFUSAL(run({"tokenize", "bytes", "-", "--format", "json", "--out", path("s.tokens")}), 2, "jsonl");
  EXPECT_REFUSAL(run({"info", path("s.tokens"), "--format", "text"}), 2, "--format is for tokenize");
}

TEST_F(DataCommand, reads_lines_of_json_as_text_if_told_to) {
  const std::string lines = file("a.jsonl", "{\"text\":\"one\"}\n");
  const Json result = Json::parse(
      printed({"tokenize", "bytes", lines, "--format", "text", "--out", path("s.tokens"), "--json"}));
  EXPECT_EQ(result["text_bytes"], 15);
}

TEST_F(DataCommand, ends_documents_with_the_token_that_is_asked_for) {
  const std::string text = file("a.txt", "the cat and the hat and the cat");
  const ProgramRun trained =
      run_sluice({"tokenizer", "train", text, "--vocab-size", "258", "--out", path("t.json"), "--special",
                  "<|endoftext|>", "--special", "<|pad|>"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const auto end = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"tokenize", path("t.json"),   text,
                                          "--out",    path("s.tokens"), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Json::parse(printed(arguments))["end_of_text"].get<int>();
  };
  EXPECT_EQ(end({}), 256);
  EXPECT_EQ(end({"--end-of-text", "<|pad|>"}), 257);
}

TEST_F(DataCommand, writes_the_same_shard_with_any_number_of_threads) {
  printed({"synth", "--out", path("a.jsonl"), "--documents", "60"});
  const auto shard = [&](const char* threads) {
    printed({"tokenize", "bytes", path("a.jsonl"), "--out", path("s.tokens"), "--threads", threads});
    return content_of(path("s.tokens"));
  };
  const std::string one = shard("1");
  EXPECT_EQ(shard("2"), one);
  EXPECT_EQ(shard("5"), one);
}

TEST_F(DataCommand, refuses_wrong_use) {
  EXPECT_REFUSAL(run({}), 2, "ACTION is required");
  EXPECT_REFUSAL(run({"synht"}), 2, "did you mean \"synth\"?");
  EXPECT_REFUSAL(run({"synth"}), 2, "synth needs --out");
  EXPECT_REFUSAL(run({"synth", "a.txt", "--out", "b.txt"}), 2, "synth reads no files");
  EXPECT_REFUSAL(run({"synth", "--out", "a.json"}), 2,
                 "expected a name that ends in .jsonl or .txt, got \"a.json\"");
  EXPECT_REFUSAL(run({"synth", "--out", "a.txt", "--kind", "stroy"}), 2,
                 "got \"stroy\" (did you mean \"story\"?)");
  EXPECT_REFUSAL(run({"synth", "--out", "a.txt", "--bytes", "9", "--documents", "9"}), 2,
                 "--bytes and --documents exclude each other");
  EXPECT_REFUSAL(run({"synth", "--out", "a.txt", "--bytes", "0"}), 2, "--bytes: expected integer from 1 to");
  EXPECT_REFUSAL(run({"synth", "--out", "a.txt", "--seed", "-1"}), 2, "--seed: expected integer from 0 to");
  EXPECT_REFUSAL(run({"synth", "--out", "a.txt", "--end-of-text", "x"}), 2, "--end-of-text is for tokenize");
  EXPECT_REFUSAL(run({"tokenize", "bytes"}), 2, "tokenize needs --out");
  EXPECT_REFUSAL(run({"tokenize", "bytes", "--out", "a"}), 2, "at least one text");
  EXPECT_REFUSAL(run({"tokenize", "bytes", "a", "--out", "b", "--kind", "code"}), 2, "--kind is for synth");
  EXPECT_REFUSAL(run({"tokenize", "bytes", file("a.txt", "a"), "--out", path("s"), "--end-of-text", "<|x|>"}),
                 2, "the tokenizer has no token \"<|x|>\"");
  EXPECT_REFUSAL(run({"info"}), 2, "info takes one token shard, got 0");
  EXPECT_REFUSAL(run({"info", "a", "b"}), 2, "info takes one token shard, got 2");
  EXPECT_REFUSAL(run({"info", "a", "--out", "b"}), 2, "--out is for synth and tokenize");
}

TEST_F(DataCommand, refuses_bad_input_and_leaves_nothing_behind) {
  const std::string good = file("a.txt", "text");
  const std::string bad = file("b.jsonl", "{\"text\": 1}\n"), empty = file("c.txt", "");
  const size_t before = entries();
  EXPECT_REFUSAL(run({"tokenize", path("gone"), good, "--out", path("s.tokens")}), 3, "gone: cannot open");
  EXPECT_REFUSAL(run({"tokenize", "bytes", path("gone.txt"), "--out", path("s.tokens")}), 3, "cannot open");
  EXPECT_REFUSAL(run({"tokenize", "bytes", good, bad, "--out", path("s.tokens")}), 3,
                 "b.jsonl: line 1: text: expected string, got 1");
  EXPECT_REFUSAL(run({"tokenize", "bytes", empty, "--out", path("s.tokens")}), 3, "c.txt: no text in it");
  EXPECT_EQ(entries(), before);
}

TEST_F(DataCommand, refuses_damaged_shards) {
  printed({"tokenize", "bytes", file("a.txt", "some text"), "--out", path("s.tokens")});
  const std::string shard = content_of(path("s.tokens"));
  EXPECT_REFUSAL(run({"info", path("a.txt")}), 3, "a.txt: not a token shard");
  EXPECT_REFUSAL(run({"info", path("gone")}), 3, "gone: cannot open");
  EXPECT_REFUSAL(run({"info", file("cut.tokens", shard.substr(0, shard.size() - 8))}), 3,
                 "do not make a file of this size");
  std::string damaged = shard;
  damaged[65] = 1;
  EXPECT_REFUSAL(run({"info", file("bad.tokens", damaged)}), 3,
                 "bad.tokens: the file is damaged: expected checksum");
}

TEST_F(DataCommand, fails_where_it_cannot_write) {
  EXPECT_REFUSAL(run({"synth", "--out", path("gone/a.txt")}), 1, "gone/a.txt");
  EXPECT_REFUSAL(run({"tokenize", "bytes", file("a.txt", "a"), "--out", path("gone/s")}), 1, "gone/s");
}

}  // namespace
}  // namespace sluice::test
