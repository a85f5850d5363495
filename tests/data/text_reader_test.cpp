#include "sluice/data/text_reader.h"

#include <gtest/gtest.h>

#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"
#include "tests/data/gzip_bytes.h"

namespace sluice {
namespace {

using Texts = std::vector<std::string>;

class TextReader : public testing::Test {
 protected:
  std::string file(const std::string& name, std::string_view content) const {
    return directory_.file(name, content).string();
  }

  static Texts documents(const std::string& path) {
    Texts texts;
    for_each_document(path, [&](std::string_view text) { texts.emplace_back(text); });
    return texts;
  }

  static Texts prompts(const std::string& path) {
    Texts texts;
    for_each_prompt(path, [&](std::string_view text) { texts.emplace_back(text); });
    return texts;
  }

  TemporaryDirectory directory_;
};

constexpr const char* kLines = R"({"text": "one\ntwo"}

{"text": "é", "more": [1]}
{"text": ""})";

TEST_F(TextReader, a_text_file_is_one_document) {
  EXPECT_EQ(documents(file("a.txt", "one\n\ntwo\r\n")), (Texts{"one\n\ntwo\r\n"}));
  EXPECT_EQ(documents(file("b", "no name ending\n")), (Texts{"no name ending\n"}));
  EXPECT_EQ(documents(file("empty.txt", "")), (Texts{""}));
}

TEST_F(TextReader, a_json_lines_file_has_a_document_per_line) {
  const Texts expected = {"one\ntwo", "é", ""};
  EXPECT_EQ(documents(file("a.jsonl", kLines)), expected);
  EXPECT_EQ(documents(file("b.jsonl", std::string(kLines) + "\n\n \t\r\n")), expected);
  EXPECT_EQ(documents(file("windows.jsonl", "{\"text\": \"one\"}\r\n\r\n{\"text\": \"two\"}\r\n")),
            (Texts{"one", "two"}));
  EXPECT_EQ(documents(file("empty.jsonl", "\n\n")), Texts{});
}

TEST_F(TextReader, gzipped_files_are_unpacked) {
  EXPECT_EQ(documents(file("a.txt.gz", gzipped("text\n"))), (Texts{"text\n"}));
  EXPECT_EQ(documents(file("a.gz", gzipped("te") + gzipped("xt"))), (Texts{"text"}));
  EXPECT_EQ(documents(file("a.jsonl.gz", gzipped(kLines))), (Texts{"one\ntwo", "é", ""}));
  EXPECT_EQ(prompts(file("p.txt.gz", gzipped("a\nb\n"))), (Texts{"a", "b"}));
}

TEST_F(TextReader, a_gzipped_file_is_known_also_without_its_ending) {
  EXPECT_EQ(documents(file("a.txt", gzipped("text"))), (Texts{"text"}));
  EXPECT_EQ(documents(file("a.jsonl", gzipped(kLines))).size(), 3U);
}

TEST_F(TextReader, a_gz_file_that_is_none_is_refused) {
  const std::string plain = file("a.txt.gz", "text");
  EXPECT_BAD_INPUT(documents(plain), plain + ": not a gzip file");
  const std::string empty = file("b.jsonl.gz", "");
  EXPECT_BAD_INPUT(documents(empty), empty + ": not a gzip file");
  const std::string cut = file("c.jsonl.gz", gzipped(kLines).substr(0, 30));
  EXPECT_BAD_INPUT(documents(cut), cut + ": the gzip file is cut off");
}

TEST_F(TextReader, names_say_what_is_inside_whatever_packs_it) {
  for (const char* ending : {"", ".gz", ".bz2", ".xz", ".zst"}) {
    EXPECT_EQ(format_named(std::string("a.jsonl") + ending), TextFormat::JsonLines) << ending;
    EXPECT_EQ(format_named(std::string("a.txt") + ending), TextFormat::Plain) << ending;
  }
}

TEST_F(TextReader, what_is_no_text_is_refused_also_inside_a_packed_file) {
  const std::string binary = file("a.txt", std::string_view("a\0b", 3));
  EXPECT_BAD_INPUT(documents(binary), binary + ": not text: it looks like binary data, with NUL bytes");
  const std::string inside = file("b.gz", gzipped("PK\x03\x04"));
  EXPECT_BAD_INPUT(prompts(inside), inside + ": not text: it looks like a zip archive");
}

// Braces and quotes would be learnt, or scored.
TEST_F(TextReader, json_lines_under_another_name_are_refused_unless_told) {
  const std::string path = file("corpus.json", kLines);
  const std::string line =
      path + ": looks like JSON Lines (--format jsonl reads it so, --format text as it is)";
  EXPECT_BAD_INPUT(documents(path), line);
  EXPECT_BAD_INPUT(prompts(path), line);
  Texts told;
  const auto add = [&](std::string_view text) { told.emplace_back(text); };
  for_each_document(path, add, TextFormat::JsonLines);
  EXPECT_EQ(told, (Texts{"one\ntwo", "é", ""}));
  told.clear();
  for_each_document(path, add, TextFormat::Plain);
  EXPECT_EQ(told, (Texts{kLines}));
  const std::string other = file("b.txt", "{\"content\": \"of another key\"}\n");
  EXPECT_BAD_INPUT(documents(other),
                   other + ": looks like JSON Lines (--format jsonl reads it so, --format text as it is)");
  EXPECT_EQ(documents(file("c.txt", "{ \"text\" in braces }\n")).size(), 1U);
}

TEST_F(TextReader, prompts_are_the_lines_of_a_text_file) {
  EXPECT_EQ(prompts(file("a.txt", "one\n\n  two \r\n\t\nthree")), (Texts{"one", "  two ", "three"}))
      << "spaces are part of a prompt, the end of the line is not";
  EXPECT_EQ(prompts(file("empty.txt", "\n \n")), Texts{});
}

TEST_F(TextReader, prompts_are_the_documents_of_a_json_lines_file) {
  EXPECT_EQ(prompts(file("a.jsonl", kLines)), (Texts{"one\ntwo", "é", ""}));
}

TEST_F(TextReader, objects_are_handed_over_whole) {
  const std::string path = file("a.jsonl", "{\"a\": 1}\n{\"a\": 2}\n");
  std::vector<int64_t> seen;
  for_each_object(path, [&](const Json& object) { seen.push_back(object.integer("a")); });
  EXPECT_EQ(seen, (std::vector<int64_t>{1, 2}));
}

TEST_F(TextReader, mistakes_are_told_with_the_line_of_the_file) {
  const std::string wrong = file("a.jsonl", "{\"text\": \"a\"}\n\n{\"text\": 3}\n");
  EXPECT_BAD_INPUT(documents(wrong), wrong + ": line 3: text: expected string, got 3");
  const std::string missing = file("b.jsonl", "{\"texts\": \"a\"}\n");
  EXPECT_THROW(documents(missing), Error);
  const std::string list = file("c.jsonl.gz", gzipped("{\"text\": \"a\"}\n[1]\n"));
  EXPECT_BAD_INPUT(documents(list), list + ": line 2: expected object, got an array of 1");
}

TEST_F(TextReader, a_line_that_is_no_json_is_told_with_its_number_and_column) {
  const std::string path = file("a.jsonl", "\n{\"text\": \"a\"\n");
  try {
    documents(path);
    FAIL() << "read what is no JSON";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    EXPECT_TRUE(std::string(error.what()).starts_with(path + ": line 2: line 1, column ")) << error.what();
  }
}

TEST_F(TextReader, documents_before_a_mistake_have_been_handed_over) {
  const std::string path = file("a.jsonl", "{\"text\": \"a\"}\n{\n");
  Texts seen;
  EXPECT_THROW(for_each_document(path, [&](std::string_view text) { seen.emplace_back(text); }), Error);
  EXPECT_EQ(seen, (Texts{"a"}));
}

TEST_F(TextReader, a_missing_file_is_bad_input) {
  const std::string path = (directory_.path() / "gone.txt").string();
  EXPECT_BAD_INPUT(read_input(path), path + ": cannot open: No such file or directory");
  EXPECT_THROW(prompts(directory_.path().string()), Error);
}

TEST(InputName, says_what_a_dash_means) {
  EXPECT_EQ(input_name("-"), "standard input");
  EXPECT_EQ(input_name("a.txt"), "a.txt");
}

TEST(JsonLines, are_told_by_the_name) {
  for (const char* name : {"a.jsonl", "a.jsonl.gz", "x/b.jsonl"})
    EXPECT_EQ(format_named(name), TextFormat::JsonLines) << name;
  for (const char* name : {"a.json", "a.txt", "a.gz", "-", "jsonl", "a.jsonl.txt"})
    EXPECT_EQ(format_named(name), TextFormat::Plain) << name;
}

}  // namespace
}  // namespace sluice
