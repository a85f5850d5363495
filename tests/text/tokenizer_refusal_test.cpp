// Files that would give other tokens than the reference, or are broken: each with the line that says so.
#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "sluice/text/tokenizer.h"
#include "tests/base/expect_error.h"
#include "tests/text/small_tokenizer.h"

namespace sluice::test {
namespace {

using File = nlohmann::json;

struct BadFile {
  std::string name;
  std::function<void(File&)> spoil;
  std::string line;
};

void PrintTo(const BadFile& file, std::ostream* out) {
  *out << file.name;
}

// Sets the value at a path like "/model/type".
std::function<void(File&)> set(const std::string& path, File value) {
  return [=](File& file) { file[File::json_pointer(path)] = value; };
}

std::function<void(File&)> splits(const File& step) {
  return [=](File& file) { file = with_splits(file, {step}); };
}

File changed(File json, const std::string& key, const File& value) {
  json[key] = value;
  return json;
}

const std::string kOnlyByteLevel = " (only byte-level BPE tokenizers are supported)";

const std::vector<BadFile> kPipeline = {
    {"unknown_key", set("/extra", 1),
     R"(t.json: extra: unknown key (valid keys: version, truncation, padding, added_tokens, normalizer, pre_tokenizer, post_processor, decoder, model))"},
    {"version", set("/version", "2.0"), R"(t.json: version: expected "1.0", got "2.0")"},
    {"truncation", set("/truncation", {{"max_length", 3}}),
     "t.json: truncation: expected null, got an object (text is never cut)"},
    {"padding", set("/padding", File::object()),
     "t.json: padding: expected null, got an empty object (text is never padded)"},
    {"normalizer", set("/normalizer", {{"type", "NFKC"}}),
     R"(t.json: normalizer.type: expected "NFC", got "NFKC" (other normalizers are not supported))"},
    {"nested_normalizer",
     set("/normalizer", {{"type", "Sequence"}, {"normalizers", {{{"type", "Lowercase"}}}}}),
     R"(t.json: normalizer.normalizers[0].type: expected "NFC", got "Lowercase" (other normalizers are not supported))"},
    {"no_pre_tokenizer", set("/pre_tokenizer", nullptr),
     "t.json: pre_tokenizer: expected a ByteLevel at the end, got null" + kOnlyByteLevel},
    {"pre_tokenizer", set("/pre_tokenizer", {{"type", "Metaspace"}}),
     "t.json: pre_tokenizer: expected a ByteLevel at the end, got an object" + kOnlyByteLevel},
    {"digits", splits({{"type", "Digits"}}),
     R"(t.json: pre_tokenizer.pretokenizers[0].type: expected "Split" or "ByteLevel", got "Digits" (other pre-tokenizers are not supported))"},
    {"byte_level_twice", splits({{"type", "ByteLevel"}}),
     R"(t.json: pre_tokenizer.pretokenizers[0].type: expected "Split" or "ByteLevel", got "ByteLevel" (other pre-tokenizers are not supported))"},
    {"behavior", splits(changed(split("a"), "behavior", "Removed")),
     R"(t.json: pre_tokenizer.pretokenizers[0].behavior: expected "Isolated", got "Removed")"},
    {"no_pattern", splits(changed(split("a"), "pattern", File::object())),
     "t.json: pre_tokenizer.pretokenizers[0].pattern: expected either a Regex or a String, got an empty "
     "object"},
    {"broken_pattern", splits(split("(a")),
     "t.json: pre_tokenizer.pretokenizers[0].pattern.Regex: invalid pattern: missing closing parenthesis"},
    {"unsupported_pattern", splits(split(R"(\w+)")),
     R"(t.json: pre_tokenizer.pretokenizers[0].pattern.Regex: cannot use the pattern: "\w" is not supported here)"},
    {"long_pattern", splits(split(std::string(70000, 'a'))),
     "t.json: pre_tokenizer.pretokenizers[0].pattern.Regex: pattern too long: expected at most 65536 bytes"},
    {"decoder", set("/decoder", {{"type", "Metaspace"}}),
     "t.json: decoder: expected ByteLevel, got an object (other decoders are not supported)"},
    {"no_decoder", set("/decoder", nullptr),
     "t.json: decoder: expected ByteLevel, got null (other decoders are not supported)"},
};

const std::vector<BadFile> kModel = {
    {"no_model", [](File& file) { file.erase("model"); }, "t.json: model: required key is missing"},
    {"model_type", set("/model/type", "Unigram"),
     R"(t.json: model.type: expected "BPE", got "Unigram")" + kOnlyByteLevel},
    {"model_key", set("/model/extra", 1),
     "t.json: model.extra: unknown key (valid keys: type, dropout, unk_token, continuing_subword_prefix, "
     "end_of_word_suffix, fuse_unk, byte_fallback, ignore_merges, vocab, merges)"},
    {"dropout", set("/model/dropout", 0.1),
     "t.json: model.dropout: expected null, got 0.1 (random tokens are not supported)"},
    {"unk_token", set("/model/unk_token", "?"),
     R"(t.json: model.unk_token: expected null, got "?" (byte-level tokenizers know all bytes))"},
    {"byte_fallback", set("/model/byte_fallback", true),
     "t.json: model.byte_fallback: expected false, got true (byte-level tokenizers know all bytes)"},
    {"prefix", set("/model/continuing_subword_prefix", "##"),
     R"(t.json: model.continuing_subword_prefix: expected null or "", got "##")"},
    {"suffix", set("/model/end_of_word_suffix", "</w>"),
     R"(t.json: model.end_of_word_suffix: expected null or "", got "</w>")"},
    {"vocab_kind", set("/model/vocab", File::array()),
     "t.json: model.vocab: expected object, got an empty array"},
    {"vocab_empty", set("/model/vocab", File::object()),
     "t.json: model.vocab: no token for the byte 0x00 (text with it could not be encoded)"},
    {"missing_byte",
     [](File& file) {
       file["model"]["vocab"].erase("a");
       file["model"]["vocab"]["zz"] = 97;
     },
     "t.json: model.vocab: no token for the byte 0x61 (text with it could not be encoded)"},
    {"id_gap", set("/model/vocab/zz", 300),
     "t.json: model.vocab.zz: expected integer from 0 to 257, got 300 (ids have no gaps)"},
    {"negative_id", set("/model/vocab/zz", -1),
     "t.json: model.vocab.zz: expected integer from 0 to 257, got -1 (ids have no gaps)"},
    {"huge_id", set("/model/vocab/zz", 18446744073709551615U),
     "t.json: model.vocab.zz: expected integer from 0 to 257, got 18446744073709551615 (ids have no gaps)"},
    {"id_kind", set("/model/vocab/zz", "1"),
     R"(t.json: model.vocab.zz: expected integer from 0 to 257, got "1" (ids have no gaps))"},
    {"same_id", set("/model/vocab/zz", 97),
     "t.json: model.vocab.zz: expected an id of its own, got 97 (another token has it)"},
    {"merges_kind", set("/model/merges", "a b"), R"(t.json: model.merges: expected array, got "a b")"},
    {"merge_of_one", set("/model/merges/0", "ab"),
     R"(t.json: model.merges[0]: expected two tokens: "a b" or ["a", "b"], got "ab")"},
    {"merge_of_three", set("/model/merges/0", {"a", "b", "c"}),
     R"(t.json: model.merges[0]: expected two tokens: "a b" or ["a", "b"], got an array of 3)"},
    {"merge_of_unknown", set("/model/merges/0", "a zz"),
     R"(t.json: model.merges[0]: expected tokens of the vocabulary that join to one of it, got "a zz")"},
    {"merge_to_unknown", set("/model/merges/0", "a c"),
     R"(t.json: model.merges[0]: expected tokens of the vocabulary that join to one of it, got "a c")"},
};

File with_flag(const File& value, const std::string& key) {
  return changed(added_token(257, "<x>"), key, value);
}

const std::vector<BadFile> kAdded = {
    {"added_kind", set("/added_tokens", 1), "t.json: added_tokens: expected array, got 1"},
    {"added_key", set("/added_tokens", {with_flag(1, "extra")}),
     "t.json: added_tokens[0].extra: unknown key (valid keys: id, content, single_word, lstrip, rstrip, "
     "normalized, special)"},
    {"added_empty", set("/added_tokens", {with_flag("", "content")}),
     R"(t.json: added_tokens[0].content: expected text, got "")"},
    {"added_flag", set("/added_tokens", {with_flag(1, "lstrip")}),
     "t.json: added_tokens[0].lstrip: expected true or false, got 1"},
    {"added_gap", set("/added_tokens", {with_flag(300, "id")}),
     "t.json: added_tokens[0].id: expected 257, got 300"},
    {"added_huge", set("/added_tokens", {with_flag(4294967297, "id")}),
     "t.json: added_tokens[0].id: expected integer from 0 to 16777216, got 4294967297"},
    {"added_other_id", set("/added_tokens", {added_token(97, "b")}),
     "t.json: added_tokens[0].id: expected 98, got 97"},
    {"added_twice", set("/added_tokens", {added_token(257, "<x>"), added_token(257, "<x>")}),
     "t.json: added_tokens[1]: expected a token that was not added before, got an object"},
};

class BadTokenizer : public testing::TestWithParam<BadFile> {};

TEST_P(BadTokenizer, is_refused_with_the_place) {
  File file = small_file({{"a", "b"}});
  GetParam().spoil(file);
  EXPECT_BAD_INPUT(read(file), GetParam().line);
}

const auto kName = [](const auto& test) { return test.param.name; };

INSTANTIATE_TEST_SUITE_P(Pipeline, BadTokenizer, testing::ValuesIn(kPipeline), kName);
INSTANTIATE_TEST_SUITE_P(Model, BadTokenizer, testing::ValuesIn(kModel), kName);
INSTANTIATE_TEST_SUITE_P(Added, BadTokenizer, testing::ValuesIn(kAdded), kName);

TEST(TokenizerFile, may_leave_out_what_old_files_do) {
  File file = small_file({{"a", "b"}});
  file["model"].erase("type");
  for (const char* key : {"version", "truncation", "padding", "added_tokens", "normalizer", "post_processor"})
    file.erase(key);
  EXPECT_EQ(read(file).size(), 257);
}

TEST(TokenizerFile, gives_up_on_a_pattern_that_backtracks_without_end) {
  const Tokenizer tokenizer = read(with_splits(small_file(), {split("(a|aa)+$")}));
  EXPECT_BAD_INPUT(tokenizer.encode(std::string(200, 'a') + "b"),
                   "t.json: pre_tokenizer.pretokenizers[0].pattern.Regex: the pattern gives up on a text: "
                   "match limit exceeded (nested repetitions in it may need very many steps)");
}

}  // namespace
}  // namespace sluice::test
