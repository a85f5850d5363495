// Files that lie. Each is bad input, with a line that says what is wrong and where.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/base/expect_error.h"
#include "tests/io/safetensors_bytes.h"

namespace sluice {
namespace {

struct Hostile {
  std::string file;
  std::string line;  // without the file's name
};

// One tensor "t" in eight bytes of data.
std::string with_entry(std::string_view entry) {
  return safetensors_bytes(fmt::format(R"({{"t":{}}})", entry), "01234567");
}

std::string with_shape(std::string_view shape) {
  return with_entry(fmt::format(R"({{"dtype":"F32","shape":{},"data_offsets":[0,8]}})", shape));
}

std::string with_offsets(std::string_view offsets) {
  return with_entry(fmt::format(R"({{"dtype":"F32","shape":[2],"data_offsets":{}}})", offsets));
}

// Tensors "a" and "b" of bytes, in eight bytes of data.
std::string with_two(int a_begin, int a_end, int b_begin, int b_end) {
  constexpr const char* kEntry = R"("{}":{{"dtype":"U8","shape":[{}],"data_offsets":[{},{}]}})";
  const std::string a = fmt::format(fmt::runtime(kEntry), "a", a_end - a_begin, a_begin, a_end);
  const std::string b = fmt::format(fmt::runtime(kEntry), "b", b_end - b_begin, b_begin, b_end);
  return safetensors_bytes(fmt::format("{{{},{}}}", a, b), "01234567");
}

std::string repeated(std::string_view part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

void expect_refusals(const std::vector<Hostile>& table) {
  for (const Hostile& each : table) {
    SCOPED_TRACE(each.line);
    EXPECT_BAD_INPUT(parse_header(each.file), "m: " + each.line);
  }
}

TEST(HostileSafetensors, header_length) {
  const std::string hint = " (the file is cut short or not a safetensors file)";
  expect_refusals({
      {"", "not a safetensors file: expected at least 8 bytes, got 0 bytes"},
      {"1234567", "not a safetensors file: expected at least 8 bytes, got 7 bytes"},
      {safetensors_bytes(0, "", ""), "header: expected a JSON object, got other bytes"},
      {safetensors_bytes(0, "{}", ""), "header: expected a JSON object, got other bytes"},
      {safetensors_bytes(3, "{}", ""), "header length: expected at most 2, got 3" + hint},
      {safetensors_bytes(~uint64_t{0}, "{}", ""),
       "header length: expected at most 2, got 18446744073709551615" + hint},
      {safetensors_bytes(uint64_t{1} << 63, "{}", ""),
       "header length: expected at most 2, got 9223372036854775808" + hint},
      {safetensors_bytes(~uint64_t{0} - 7, "{}", ""),
       "header length: expected at most 2, got 18446744073709551608" + hint},
      {safetensors_bytes("{}" + std::string(99'999'999, ' '), ""),
       "header length: expected at most 100000000, got 100000001" + hint},
  });
}

TEST(HostileSafetensors, header_text) {
  using namespace std::literals;
  expect_refusals({
      {safetensors_bytes("[]", ""), "header: expected a JSON object, got other bytes"},
      {safetensors_bytes("null", ""), "header: expected a JSON object, got other bytes"},
      {safetensors_bytes(" {}", ""), "header: expected a JSON object, got other bytes"},
      {safetensors_bytes("\xef\xbb\xbf{}", ""), "header: expected a JSON object, got other bytes"},
      {safetensors_bytes("{}\0{}"sv, ""), "header: invalid JSON: zero byte"},
      {safetensors_bytes("{}x", ""), "header: line 1, column 3: invalid JSON: invalid literal"},
      {safetensors_bytes("{\"t\":NaN}", ""), "header: line 1, column 6: invalid JSON: invalid literal"},
      {safetensors_bytes("{\"\xc3\x28\":1}", ""),
       "header: line 1, column 4: invalid JSON: invalid string: ill-formed UTF-8 byte"},
      {safetensors_bytes(R"({"t":1,"\u0074":1})", ""), "header: t: duplicate key"},
      {with_entry(R"({"dtype":"F32","dtype":"F32"})"), "header: t.dtype: duplicate key"},
      {with_shape("[[[[1]]]]"), "header: nested deeper than 4 levels"},
      {safetensors_bytes("{\"t\":" + std::string(1'000'000, '['), ""), "header: nested deeper than 4 levels"},
  });
}

TEST(HostileSafetensors, entries) {
  expect_refusals({
      {with_entry("[]"), R"(tensor "t": expected object, got an empty array)"},
      {with_entry("{}"), R"(tensor "t": dtype: required key is missing)"},
      {with_entry(R"({"dtype":"F32","data_offsets":[0,8]})"),
       R"(tensor "t": shape: required key is missing)"},
      {with_entry(R"({"dtype":"F32","shape":[2]})"), R"(tensor "t": data_offsets: required key is missing)"},
      {with_entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8],"strides":[1]})"),
       R"(tensor "t": expected dtype, shape and data_offsets alone, got an object)"},
      {with_entry(R"({"dtype":7,"shape":[2],"data_offsets":[0,8]})"),
       R"(tensor "t": dtype: expected string, got 7)"},
      {with_entry(R"({"dtype":"f32","shape":[2],"data_offsets":[0,8]})"),
       R"(tensor "t": dtype: expected a known type such as F32, BF16 or F16, got "f32")"},
      {safetensors_bytes(R"({"a\nb":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "x"),
       R"(tensor "a\nb": control character in the name)"},
      {safetensors_bytes(R"({"a\u0000b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "x"),
       R"(tensor "a\u0000b": control character in the name)"},
      {safetensors_bytes(R"({"__metadata__":{"n":1}})", ""), "__metadata__.n: expected string, got 1"},
      {safetensors_bytes(R"({"__metadata__":[]})", ""), "__metadata__: expected object, got an empty array"},
      {safetensors_bytes(R"({"__metadata__":null})", ""), "__metadata__: expected object, got null"},
  });
}

TEST(HostileSafetensors, shapes) {
  const std::string at = R"(tensor "t": shape)";
  expect_refusals({
      {with_shape("2"), at + ": expected array, got 2"},
      {with_shape("[-2]"), at + "[0]: expected integer >= 0, got -2"},
      {with_shape("[-1,-2]"), at + "[0]: expected integer >= 0, got -1"},
      {with_shape("[1,2.0]"), at + "[1]: expected integer >= 0, got 2.0"},
      {with_shape("[1.5]"), at + "[0]: expected integer >= 0, got 1.5"},
      {with_shape("[\"2\"]"), at + "[0]: expected integer >= 0, got \"2\""},
      {with_shape("[null]"), at + "[0]: expected integer >= 0, got null"},
      {with_shape("[9223372036854775808]"), at + ": too many elements: got [9223372036854775808]"},
      {with_shape("[18446744073709551615]"), at + ": too many elements: got [18446744073709551615]"},
      {with_shape("[18446744073709551618]"), at + "[0]: expected integer >= 0, got 1.8446744073709552e+19"},
      {with_shape("[4294967296,4294967296]"), at + ": too many elements: got [4294967296,4294967296]"},
      {with_shape("[0,4294967296,4294967296]"), at + ": too many elements: got [0,4294967296,4294967296]"},
      {with_shape("[1,1,1,1,2]"), at + ": expected at most 4 dimensions, got an array of 5"},
      {with_shape("[0" + repeated(",0", 1'000'000) + "]"),
       at + ": expected at most 4 dimensions, got an array of 1000001"},
      {with_shape("[1e999]"), "header: line 1, column 34: invalid JSON: number out of range"},
  });
}

TEST(HostileSafetensors, offsets) {
  const std::string at = R"(tensor "t": data_offsets)";
  const std::string outside = ": expected end <= 8, the bytes of data in the file, got ";
  const std::string hint = " (the file is cut short or damaged)";
  expect_refusals({
      {with_offsets("8"), at + ": expected an array of 2, got 8"},
      {with_offsets("[0]"), at + ": expected an array of 2, got an array of 1"},
      {with_offsets("[0,4,8]"), at + ": expected an array of 2, got an array of 3"},
      {with_offsets("[-8,0]"), at + "[0]: expected integer >= 0, got -8"},
      {with_offsets("[0,8.0]"), at + "[1]: expected integer >= 0, got 8.0"},
      {with_offsets("[8,0]"), at + ": expected begin <= end, got [8, 0]"},
      {with_offsets("[0,4]"), at + ": expected 8 bytes for F32 [2], got [0, 4], 4 bytes"},
      {with_offsets("[4,12]"), at + outside + "[4, 12]" + hint},
      {with_offsets("[18446744073709551608,18446744073709551615]"),
       at + outside + "[18446744073709551608, 18446744073709551615]" + hint},
      {with_offsets("[18446744073709551615,7]"),
       at + ": expected begin <= end, got [18446744073709551615, 7]"},
  });
}

TEST(HostileSafetensors, data_that_two_tensors_share_or_none_has) {
  expect_refusals({
      {with_two(0, 4, 0, 8), R"(tensor "b": data_offsets: overlaps another tensor: expected begin 4, got 0)"},
      {with_two(0, 5, 4, 8), R"(tensor "b": data_offsets: overlaps another tensor: expected begin 5, got 4)"},
      {with_two(4, 4, 0, 8), R"(tensor "a": data_offsets: overlaps another tensor: expected begin 8, got 4)"},
      {with_two(0, 3, 4, 8), R"(tensor "b": data_offsets: leaves a hole before it: expected begin 3, got 4)"},
      {with_two(4, 8, 1, 4), R"(tensor "b": data_offsets: leaves a hole before it: expected begin 0, got 1)"},
      {with_two(0, 3, 3, 7), "bytes after the last tensor: expected a file of 120 bytes, got 121"},
      {safetensors_bytes("{}", "x"), "bytes after the last tensor: expected a file of 10 bytes, got 11"},
  });
}

}  // namespace
}  // namespace sluice
