#include "sluice/report/write_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "sluice/base/file.h"
#include "sluice/report/html.h"
#include "sluice/report/markdown.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"
#include "tests/report/example_report.h"

namespace sluice {
namespace {

std::map<std::string, std::string> contents_of(const std::filesystem::path& directory) {
  std::map<std::string, std::string> contents;
  for (const auto& each : std::filesystem::directory_iterator(directory))
    contents[each.path().filename().string()] = read_text(each.path(), 1 << 22);
  return contents;
}

std::set<std::string> names_of(const std::map<std::string, std::string>& contents) {
  std::set<std::string> names;
  for (const auto& [name, content] : contents) names.insert(name);
  return names;
}

TEST(WriteReport, makes_a_directory_with_a_file_for_every_part) {
  const TemporaryDirectory directory;
  const Report report = example_report("m");
  write_report(report, directory.path() / "new" / "out");
  const auto files = contents_of(directory.path() / "new" / "out");
  EXPECT_EQ(names_of(files), (std::set<std::string>{"report.html", "report.json", "report.md", "m.csv",
                                                    "m_gates.svg", "m_gates.png", "x.svg", "x.png"}));
  EXPECT_EQ(files.at("report.html"), html_of(report));
  EXPECT_EQ(files.at("report.md"), markdown_of(report));
  EXPECT_EQ(nlohmann::ordered_json::parse(files.at("report.json")), to_json(report));
  EXPECT_EQ(files.at("m.csv"), csv_of(example_table("m")));
  EXPECT_EQ(files.at("m_gates.svg"), svg_of(example_drawing("m")));
  EXPECT_EQ(files.at("x.png"), png_of(example_drawing("m")));
}

TEST(WriteReport, gives_the_same_bytes_again) {
  const TemporaryDirectory first, second;
  write_report(example_report("a b"), first.path());
  write_report(example_report("a b"), second.path());
  EXPECT_EQ(contents_of(first.path()), contents_of(second.path()));
  write_report(example_report("a b"), first.path());
  EXPECT_EQ(contents_of(first.path()), contents_of(second.path())) << "what was there is replaced";
}

TEST(WriteReport, stays_in_its_directory_whatever_things_are_called) {
  for (const char* name : {"../../x", "/etc/x", "..", ".x", "<script>", "a\"b'c", ""}) {
    const TemporaryDirectory directory;
    write_report(example_report(name), directory.path() / "out");
    EXPECT_EQ(directory.entries(), 1U) << name;
    const auto files = contents_of(directory.path() / "out");
    EXPECT_EQ(files.size(), 8U) << name;
    for (const std::string& each : names_of(files)) EXPECT_NE(each[0], '.') << each;
  }
}

TEST(WriteReport, keeps_what_else_is_there) {
  const TemporaryDirectory directory;
  directory.file("corpus.jsonl", "{}");
  write_report(example_report("m"), directory.path());
  EXPECT_EQ(read_text(directory.path() / "corpus.jsonl", 10), "{}");
}

TEST(WriteReport, fails_where_no_directory_can_be) {
  const TemporaryDirectory directory;
  const auto file = directory.file("taken", "");
  EXPECT_ERROR(write_report(example_report("m"), file / "out"), ErrorKind::Failed,
               (file / "out").string() + ": cannot create: Not a directory");
}

TEST(WriteResult, is_the_json_of_the_use_case) {
  const TemporaryDirectory directory;
  write_result({{"value", 1.5}}, directory.path());
  EXPECT_EQ(read_text(directory.path() / "result.json", 100), "{\n  \"value\": 1.5\n}\n");
}

}  // namespace
}  // namespace sluice
