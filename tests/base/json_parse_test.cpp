#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "sluice/base/json.h"
#include "sluice/base/random.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

Json parse(std::string_view text) {
  return Json::parse(text, "run.json");
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

TEST(JsonParse, BuildsTheSameTreeAsTheLibrary) {
  const std::string text =
      R"({"a": [1, -2, 3.5, 1e3, true, false, null, "x\n\u00e4"], "b": {"c": [[], {}]}, "d": ""})";
  EXPECT_EQ(parse(text).node(), nlohmann::json::parse(text));
  EXPECT_EQ(parse("5").integer(), 5);
  EXPECT_EQ(parse("\xef\xbb\xbf[1]").at(0).integer(), 1) << "a byte order mark is skipped";
}

TEST(JsonParse, SyntaxErrorsTellLineAndColumn) {
  EXPECT_BAD_INPUT(parse("{\n  \"a\": 1,\n  \"b\" 2\n}"),
                   "run.json: line 3, column 7: invalid JSON: unexpected number literal; expected ':'");
  EXPECT_BAD_INPUT(parse("[1, 2"),
                   "run.json: line 1, column 6: invalid JSON: unexpected end of input; expected ']'");
  EXPECT_BAD_INPUT(parse("{\"a\": 1,}"),
                   "run.json: line 1, column 9: invalid JSON: unexpected '}'; expected string literal");
  EXPECT_BAD_INPUT(parse("[tru]"), "run.json: line 1, column 5: invalid JSON: invalid literal");
  EXPECT_BAD_INPUT(
      parse("[1] 2"),
      "run.json: line 1, column 5: invalid JSON: unexpected number literal; expected end of input");
}

TEST(JsonParse, ColumnsCountCharacters) {
  EXPECT_BAD_INPUT(parse("[\"äöü\", x]"), "run.json: line 1, column 9: invalid JSON: invalid literal");
}

TEST(JsonParse, EmptyTextIsRefused) {
  EXPECT_BAD_INPUT(parse(""), "run.json: line 1, column 1: invalid JSON: the text is empty");
  EXPECT_BAD_INPUT(
      parse("\n\n"),
      "run.json: line 3, column 1: invalid JSON: unexpected end of input; expected '[', '{', or a literal");
}

TEST(JsonParse, CommentsAreRefused) {
  EXPECT_BAD_INPUT(parse("[1] // one"), "run.json: line 1, column 5: invalid JSON: invalid literal");
}

TEST(JsonParse, InvalidUtf8IsRefused) {
  EXPECT_BAD_INPUT(parse("[\"\xc3(\"]"),
                   "run.json: line 1, column 4: invalid JSON: invalid string: ill-formed UTF-8 byte");
  EXPECT_BAD_INPUT(parse("[\"\xed\xa0\x80\"]"),
                   "run.json: line 1, column 4: invalid JSON: invalid string: ill-formed UTF-8 byte");
}

TEST(JsonParse, ZeroBytesDoNotHideWhatFollows) {
  EXPECT_BAD_INPUT(parse(std::string_view("{}\0garbage", 10)),
                   "run.json: line 1, column 3: invalid JSON: a zero byte");
}

TEST(JsonParse, NumbersThatOverflowAreRefused) {
  EXPECT_BAD_INPUT(parse("[1e999]"), "run.json: line 1, column 6: invalid JSON: number out of range");
  EXPECT_BAD_INPUT(parse("[1" + std::string(100'000, '0') + "]"),
                   "run.json: line 1, column 100002: invalid JSON: number out of range");
}

TEST(JsonParse, DuplicateKeysAreRefused) {
  EXPECT_BAD_INPUT(parse(R"({"a": 1, "a": 2})"), "run.json: a: duplicate key");
  EXPECT_BAD_INPUT(parse(R"({"m": [0, {"a": {"b": 1, "c": 2, "b": 3}}]})"),
                   "run.json: m[1].a.b: duplicate key");
  EXPECT_NO_THROW(parse(R"([{"a": 1}, {"a": 2}])"));
}

TEST(JsonParse, DepthIsLimited) {
  EXPECT_NO_THROW(parse(repeated("[", 64) + repeated("]", 64)));
  EXPECT_BAD_INPUT(parse(repeated("[", 65) + repeated("]", 65)), "run.json: nested deeper than 64 levels");
  EXPECT_BAD_INPUT(Json::parse("[[1]]", "x", {.depth = 1}), "x: nested deeper than 1 levels");
  EXPECT_BAD_INPUT(parse(repeated("[", 10'000'000)), "run.json: nested deeper than 64 levels");
  EXPECT_BAD_INPUT(parse(repeated("{\"a\":", 1'000'000)), "run.json: nested deeper than 64 levels");
}

TEST(JsonParse, SizeIsLimited) {
  EXPECT_BAD_INPUT(Json::parse("[1, 2]", "x", {.bytes = 5}),
                   "x: text too large: expected at most 5 bytes, got 6 bytes");
}

TEST(JsonParse, NumberOfValuesIsLimited) {
  EXPECT_NO_THROW(Json::parse("[1, [2]]", "x", {.values = 4}));
  EXPECT_BAD_INPUT(Json::parse("[1, [2]]", "x", {.values = 3}), "x: more than 3 values");
  EXPECT_BAD_INPUT(parse("[" + repeated("0,", 10'000'000)), "run.json: more than 4194304 values");
}

TEST(JsonParse, HostileTextStaysOutOfTheMessage) {
  const std::string text = "[\"" + std::string(5'000'000, 'x');
  EXPECT_BAD_INPUT(parse(text),
                   "run.json: line 1, column 5000003: invalid JSON: invalid string: missing closing quote");
}

TEST(JsonParse, LoadNamesTheFile) {
  const TemporaryDirectory directory;
  const auto file = directory.file("a.json", R"({"n": "x"})");
  EXPECT_EQ(Json::load(file).text("n"), "x");
  EXPECT_BAD_INPUT(Json::load(file).integer("n"), file.string() + R"(: n: expected integer, got "x")");
  EXPECT_BAD_INPUT(Json::load(file, {.bytes = 3}),
                   file.string() + ": file too large: expected at most 3 bytes, got 10 bytes");
  EXPECT_BAD_INPUT(Json::load(directory.path() / "none"),
                   (directory.path() / "none").string() + ": cannot open: No such file or directory");
}

TEST(JsonParse, MutilatedTextIsReadOrRefusedButNeverWorse) {
  const std::string whole = R"({"a": [1, -2.5e3, true, null, "x\u00e4\n"], "b": {"c": [[], {}]}})";
  const Random random(1);
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    std::string text = whole.substr(0, random.below(4 * i, whole.size() + 1));
    for (std::uint64_t edit = 1; edit <= 3 && !text.empty(); ++edit) {
      const auto words = random.bits(4 * i + edit);
      text[words[0] % text.size()] =
          words[2] % 2 == 0 ? static_cast<char>(words[1]) : whole[words[1] % whole.size()];
    }
    try {
      static_cast<void>(parse(text));
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::BadInput) << text;
    }
  }
}

}  // namespace
}  // namespace sluice
