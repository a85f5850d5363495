#include "sluice/data/tokenize.h"

#include <gtest/gtest.h>

#include <fstream>

#include "sluice/data/synth.h"
#include "sluice/text/tokenizer_writer.h"
#include "tests/base/expect_error.h"
#include "tests/data/gzip_bytes.h"
#include "tests/data/shard_file.h"

namespace sluice {
namespace {

class Tokenize : public testing::Test {
 protected:
  std::string file(const std::string& name, std::string_view content) const {
    return directory_.file(name, content).string();
  }
  std::filesystem::path out() const { return directory_.path() / "out.tokens"; }

  TokenShardInfo bytes_of(const std::vector<std::string>& files, int threads = 1) const {
    return tokenize_files(Tokenizer::bytes(), {.files = files, .out = out(), .end_of_text = 0},
                          Threads(threads));
  }

  // Documents of the shard as texts; ends are not shown.
  std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    for (auto& ids : documents_of(TokenShard(out()))) {
      EXPECT_EQ(ids.back(), 0);
      ids.pop_back();
      texts.push_back(Tokenizer::bytes().decode(ids));
    }
    return texts;
  }

  std::string written() const {
    std::ifstream file(out(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TemporaryDirectory directory_;
};

using Texts = std::vector<std::string>;

TEST_F(Tokenize, makes_a_document_of_a_text_and_of_each_line_of_json) {
  const TokenShardInfo info =
      bytes_of({file("a.txt", "one\ntwo\n"), file("b.jsonl", "{\"text\":\"x\"}\n\n{\"text\":\"yz\"}\n"),
                file("c.txt.gz", gzipped("packed"))});
  EXPECT_EQ(texts(), (Texts{"one\ntwo\n", "x", "yz", "packed"}));
  EXPECT_EQ(info.documents, 4);
  EXPECT_EQ(info.text_bytes, 8 + 1 + 2 + 6);
  EXPECT_EQ(info.tokens, info.text_bytes + 4);
  EXPECT_EQ(info.vocabulary, 256);
}

TEST_F(Tokenize, cuts_joined_documents_into_pieces_that_begin_and_end_alike) {
  const std::string text = file("a.jsonl", "{\"text\":\"abcd\"}\n{\"text\":\"ef\"}\n");
  const TokenShardInfo info = tokenize_files(
      Tokenizer::bytes(), {.files = {text}, .out = out(), .end_of_text = 0, .piece_tokens = 5}, Threads(1));
  const auto pieces = documents_of(TokenShard(out()));
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[0], (std::vector<TokenId>{0, 'a', 'b', 'c', 0}));
  EXPECT_EQ(pieces[1], (std::vector<TokenId>{0, 'd', 0, 'e', 0})) << "an end stands between two documents";
  EXPECT_EQ(pieces[2], (std::vector<TokenId>{0, 'f', 0, 0, 0})) << "what is left of the text, filled up";
  EXPECT_EQ(info.text_bytes, 6);
}

TEST_F(Tokenize, leaves_documents_without_text_out) {
  EXPECT_EQ(
      bytes_of({file("a.jsonl", "{\"text\":\"\"}\n{\"text\":\"x\"}\n"), file("empty.txt", "")}).documents, 1);
  EXPECT_EQ(texts(), (Texts{"x"}));
}

TEST_F(Tokenize, refuses_files_without_any_text) {
  const std::string empty = file("a.txt", "");
  EXPECT_BAD_INPUT(bytes_of({empty}), empty + ": no text in it");
  EXPECT_FALSE(std::filesystem::exists(out()));
}

TEST_F(Tokenize, leaves_nothing_behind_where_a_file_is_bad) {
  const std::string good = file("a.txt", "text");
  EXPECT_THROW(bytes_of({good, file("b.jsonl", "{")}), Error);
  EXPECT_THROW(bytes_of({good, (directory_.path() / "gone.txt").string()}), Error);
  EXPECT_FALSE(std::filesystem::exists(out()));
  EXPECT_EQ(directory_.entries(), 2U);
}

TEST_F(Tokenize, gives_the_same_bytes_for_any_number_of_threads) {
  std::string lines;
  for (uint64_t i = 0; i < 200; ++i)
    lines += nlohmann::json{{"text", synth_document({TextKind::Story, 1, i})}}.dump() + "\n";
  const std::string path = file("a.jsonl", lines);
  bytes_of({path}, 1);
  const std::string one = written();
  for (const int threads : {2, 3, 7}) {
    bytes_of({path}, threads);
    EXPECT_EQ(written(), one) << threads << " threads";
  }
}

TEST_F(Tokenize, tells_how_far_it_is_and_stops_when_told_to) {
  // More than twice what waits for the threads at once.
  const std::string line = nlohmann::json{{"text", std::string(1 << 17, 'x')}}.dump() + "\n";
  std::string lines;
  for (int i = 0; i < 20; ++i) lines += line;
  int64_t documents = 0;
  int calls = 0;
  const TokenizeRequest request{.files = {file("a.jsonl", lines)}, .out = out(), .end_of_text = 0};
  const auto count = [&](const ProgressUpdate& update) {
    documents = update.done;
    ++calls;
  };
  tokenize_files(Tokenizer::bytes(), request, Threads(2), {.progress = count});
  EXPECT_EQ(documents, 20);
  EXPECT_GE(calls, 3);
  std::filesystem::remove(out());
  const JobControl stopped_in_between{.cancelled = [&] { return --calls == 0; }};
  EXPECT_THROW(tokenize_files(Tokenizer::bytes(), request, Threads(2), stopped_in_between), Error);
  EXPECT_FALSE(std::filesystem::exists(out()));
}

class EndOfText : public testing::Test {
 protected:
  // Bytes, and these special tokens behind them.
  static Tokenizer with(const std::vector<std::string>& special) {
    const Threads threads(1);
    WordCounter counter({.pattern = WordPattern::Qwen, .special = special}, threads);
    const TrainedBpe trained = train_bpe(counter.words(), {.tokens = 256}, threads);
    return Tokenizer::read(Json::parse(tokenizer_json(trained, WordPattern::Qwen, special), "t.json"));
  }
};

TEST_F(EndOfText, is_the_usual_special_token) {
  EXPECT_EQ(end_of_text_of(with({"<|pad|>", "<|endoftext|>"})), 257);
  EXPECT_EQ(end_of_text_of(with({"</s>"})), 256);
}

TEST_F(EndOfText, is_else_the_byte_zero) {
  EXPECT_EQ(end_of_text_of(Tokenizer::bytes()), 0);
  const Tokenizer tokenizer = with({"<|pad|>"});
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{end_of_text_of(tokenizer)}), std::string(1, '\0'));
}

}  // namespace
}  // namespace sluice
