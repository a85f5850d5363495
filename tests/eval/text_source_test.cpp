#include "sluice/eval/text_source.h"

#include "sluice/data/tokenize.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"
#include "tests/data/gzip_bytes.h"
#include "tests/data/shard_file.h"
#include "tests/infer/byte_model.h"

namespace sluice {
namespace {

class TextSources : public WithByteModel {
 protected:
  std::string file(const std::string& name, std::string_view content) const {
    return directory_.file(name, content).string();
  }

  std::string shard(const std::string& name, const Documents& documents, int64_t vocabulary = 128) const {
    const std::filesystem::path path = directory_.path() / name;
    write_shard(path, documents, {.vocabulary = vocabulary, .end_of_text = 0});
    return path.string();
  }

  // The shard that `sluice data tokenize` makes of a text.
  std::string tokenized(const std::string& path) const {
    const std::filesystem::path out = path + ".tokens";
    const Tokenizer& tokenizer = model_.tokenizer();
    tokenize_files(tokenizer, {.files = {path}, .out = out, .end_of_text = end_of_text_of(tokenizer)},
                   engine_.threads());
    // The same tokens for a model of 128, which the byte tokenizer is too large for.
    const std::filesystem::path small = path + ".small.tokens";
    const TokenShard shard(out);
    Documents documents = documents_of(shard);
    for (auto& document : documents) document.pop_back();
    write_shard(small, documents, {.vocabulary = 128, .end_of_text = shard.info().end_of_text});
    return small.string();
  }

  std::string text_of(const TextSource& source) const {
    return model_.tokenizer().decode(read_chunks(model_, source).tokens);
  }

  TemporaryDirectory directory_;
};

TEST_F(TextSources, are_the_same_text_in_every_kind_of_file) {
  const std::string text = "the cat\nand the hat\n";
  const std::string line = "{\"text\": \"the cat\\nand the hat\\n\"}\n";
  EXPECT_EQ(text_of(text), text);
  for (const std::string& path : {file("a.txt", text), file("a.jsonl", line), file("b.gz", gzipped(text)),
                                  file("b.jsonl.gz", gzipped(line)), tokenized(file("c.txt", text))})
    EXPECT_EQ(text_of(DataFiles{{path}}), text) << path;
}

TEST_F(TextSources, join_documents_by_the_end_of_text_however_they_come) {
  const std::string joined("the cat\0and the hat", 19);
  const std::string one = file("1.txt", "the cat"), none = file("2.txt", ""),
                    two = file("3.txt", "and the hat");
  EXPECT_EQ(text_of(DataFiles{{one, none, two}}), joined);
  const std::string lines =
      file("a.jsonl", "{\"text\": \"the cat\"}\n\n{\"text\": \"\"}\n{\"text\": \"and the hat\"}\n");
  EXPECT_EQ(text_of(DataFiles{{lines}}), joined);
  EXPECT_EQ(text_of(DataFiles{{tokenized(lines)}}), joined);
  EXPECT_EQ(text_of(DataFiles{{tokenized(one), tokenized(two)}}), joined);
  EXPECT_EQ(read_chunks(model_, DataFiles{{lines}}).predicted_bytes, 17) << "the join has no text";
}

TEST_F(TextSources, read_no_more_documents_than_the_chunks_need) {
  const std::string lines = file("a.jsonl", "{\"text\": \"abcdef\"}\n{\"text\": \"caf\u00e9\"}\n");
  EXPECT_EQ(read_chunks(model_, DataFiles{{lines}}, {.length = 3, .at_most = 2}).tokens.size(), 6U);
}

TEST_F(TextSources, ids_are_taken_as_they_are) {
  const std::vector<TokenId> ids = {5, 127, 0, 3};
  EXPECT_EQ(read_chunks(model_, ids).tokens, ids);
  EXPECT_EQ(read_chunks(model_, IdsFile{file("ids", "5 127\n0,3")}).tokens, ids);
}

TEST_F(TextSources, shards_follow_each_other_with_the_ends_of_their_documents) {
  const std::string a = shard("a.tokens", {{1, 2, 3}, {4}}), b = shard("b.tokens", {{5, 6}});
  EXPECT_EQ(read_chunks(model_, DataFiles{{a, b}}).tokens, (std::vector<TokenId>{1, 2, 3, 0, 4, 0, 5, 6}));
  EXPECT_EQ(read_chunks(model_, DataFiles{{a, b}}, {.length = 4, .at_most = 1}).tokens,
            (std::vector<TokenId>{1, 2, 3, 0}));
}

TEST_F(TextSources, are_cut_into_whole_chunks) {
  const ChunkedText text = read_chunks(model_, std::string(95, 'x'), {.length = 10});
  EXPECT_EQ(text.chunks(), 9);
  EXPECT_EQ(text.tokens.size(), 90U) << "what is left at the end is left out";
  EXPECT_EQ(read_chunks(model_, std::string(95, 'x'), {.length = 10, .at_most = 3}).chunks(), 3);
  const ChunkedText abc = read_chunks(model_, std::string("abcdefg"), {.length = 3});
  EXPECT_EQ(model_.tokenizer().decode(abc.chunk(1).ids), "def");
}

TEST_F(TextSources, make_one_chunk_if_they_are_shorter_than_that) {
  const ChunkedText text = read_chunks(model_, std::string("short"));
  EXPECT_EQ(text.chunks(), 1);
  EXPECT_EQ(text.chunk_length, 5);
}

TEST_F(TextSources, know_the_bytes_that_are_predicted_of_texts_alone) {
  EXPECT_EQ(read_chunks(model_, std::string(95, 'x'), {.length = 10}).predicted_bytes, 81);
  EXPECT_EQ(read_chunks(model_, DataFiles{{file("a.txt", "abc")}}).predicted_bytes, 2);
  EXPECT_FALSE(read_chunks(model_, std::vector<TokenId>{1, 2}).predicted_bytes.has_value());
  EXPECT_FALSE(read_chunks(model_, DataFiles{{shard("a.tokens", {{1, 2}})}}).predicted_bytes.has_value());
}

TEST_F(TextSources, refuse_what_leaves_nothing_to_predict) {
  const char* line = "the text: nothing to predict: expected at least 2 tokens, got ";
  EXPECT_BAD_INPUT(read_chunks(model_, std::string()), line + std::string("0"));
  EXPECT_BAD_INPUT(read_chunks(model_, std::string("x")), line + std::string("1"));
  EXPECT_BAD_INPUT(read_chunks(model_, IdsFile{file("ids", "")}), line + std::string("0"));
}

TEST_F(TextSources, refuse_tokens_that_the_model_does_not_have) {
  EXPECT_BAD_INPUT(read_chunks(model_, std::vector<TokenId>{1, 128}),
                   "token ids: expected integers from 0 to 127, got 128");
  EXPECT_BAD_INPUT(read_chunks(model_, std::string("caf\xc3\xa9")),
                   model_.path().string() +
                       ": the tokenizer does not fit the model: expected token ids below 128, got 195");
  const std::string path = shard("v.tokens", {{1, 2}}, 200);
  EXPECT_BAD_INPUT(read_chunks(model_, DataFiles{{path}}),
                   path + ": its tokens do not fit the model: expected a vocabulary of at most 128, got 200");
}

TEST_F(TextSources, begin_with_a_token_that_the_model_must_name) {
  EXPECT_BAD_INPUT(read_chunks(model_, std::string("text"), {.begin_of_text = BeginOfText::Text}),
                   (model_.path() / "config.json").string() +
                       ": --bos needs a begin-of-text token: expected bos_token_id from 0 to 127, got none");
}

TEST_F(TextSources, refuse_a_mixture_of_shards_and_texts) {
  const std::string text = file("a.txt", "some text");
  EXPECT_BAD_INPUT(read_chunks(model_, DataFiles{{shard("a.tokens", {{1, 2}}), text}}),
                   text + ": expected a token shard like the others");
}

// Such a directory was silently read as bytes.
TEST_F(TextSources, text_needs_a_tokenizer_and_ids_need_none) {
  const LoadedModel model(engine_, golden("tiny_gate_elementwise"));
  EXPECT_FALSE(model.has_tokenizer());
  EXPECT_BAD_INPUT(read_chunks(model, std::string("text")),
                   model.path().string() +
                       ": the model has no tokenizer.json (--tokenizer FILE names one, --tokenizer bytes "
                       "says that its tokens are bytes)");
  EXPECT_EQ(read_chunks(model, std::vector<TokenId>{1, 2}).chunks(), 1);
}

}  // namespace
}  // namespace sluice
