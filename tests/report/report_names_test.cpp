#include "sluice/report/report_names.h"

#include <gtest/gtest.h>

#include "sluice/base/assert.h"
#include "tests/report/example_report.h"

namespace sluice {
namespace {

TEST(FileStem, is_a_plain_name_whatever_a_model_is_called) {
  EXPECT_EQ(safe_file_stem("qwen3-0.6b_gates"), "qwen3-0.6b_gates");
  EXPECT_EQ(safe_file_stem("Qwen/Qwen3 1.7B"), "Qwen_Qwen3_1.7B");
  EXPECT_EQ(safe_file_stem("../../x"), "_.._x");
  EXPECT_EQ(safe_file_stem("..\\x"), "_x");
  EXPECT_EQ(safe_file_stem("<script>alert('&\"')</script>"), "_script_alert________script_");
  EXPECT_EQ(safe_file_stem(".hidden"), "hidden");
  EXPECT_EQ(safe_file_stem("-rf"), "rf");
  EXPECT_EQ(safe_file_stem(""), "unnamed");
  EXPECT_EQ(safe_file_stem(".."), "unnamed");
  EXPECT_EQ(safe_file_stem(std::string("a\0b\nc", 5)), "a_b_c");
  EXPECT_EQ(safe_file_stem(std::string(5000, 'x')).size(), 120U);
}

Report of_tables_and_figures(const std::vector<std::string>& names) {
  Report report{.title = "t", .sections = {{.title = "Same"}, {.title = "same!"}}};
  for (const std::string& name : names) {
    report.sections[0].blocks.push_back(Table{.name = name});
    report.sections[1].blocks.push_back(
        ReportFigure{.stem = name, .figure = example_drawing("x"), .table = name});
  }
  return report;
}

TEST(ReportNames, are_given_once_also_where_case_does_not_count) {
  const Report named = with_unique_names(of_tables_and_figures({"a/b", "a b", "A_B", "a_b-2"}));
  std::vector<std::string> tables, figures;
  for (const Table* table : tables_of(named)) tables.push_back(table->name);
  for (const ReportFigure* figure : figures_of(named)) figures.push_back(figure->stem);
  EXPECT_EQ(tables, (std::vector<std::string>{"a_b", "a_b-2", "A_B-3", "a_b-2-2"}));
  EXPECT_EQ(figures, tables) << "a figure may be called like its table";
  for (size_t i = 0; i < figures.size(); ++i) EXPECT_EQ(figures_of(named)[i]->table, tables[i]);
}

TEST(ReportNames, stay_when_given_again) {
  const Report once = with_unique_names(of_tables_and_figures({"x", "x", "X-2"}));
  const Report twice = with_unique_names(once);
  for (size_t i = 0; i < tables_of(once).size(); ++i) {
    EXPECT_EQ(tables_of(once)[i]->name, tables_of(twice)[i]->name);
    EXPECT_EQ(figures_of(once)[i]->stem, figures_of(twice)[i]->stem);
    EXPECT_EQ(figures_of(once)[i]->table, figures_of(twice)[i]->table);
  }
}

TEST(ReportNames, of_sections_are_unique_anchors_that_no_table_has) {
  Report report = of_tables_and_figures({"x"});
  report.sections[0].subsections = {
      {.title = "Table x"}, {.title = "???"}, {.title = "own", .anchor = "My own"}};
  const Report named = with_unique_names(report);
  EXPECT_EQ(named.sections[0].anchor, "same");
  EXPECT_EQ(named.sections[1].anchor, "same-2");
  EXPECT_EQ(named.sections[0].subsections[0].anchor, "table-x-2");
  EXPECT_EQ(named.sections[0].subsections[1].anchor, "section");
  EXPECT_EQ(named.sections[0].subsections[2].anchor, "my-own");
}

TEST(ReportNames, refuse_a_figure_whose_numbers_are_not_there) {
  Report report = of_tables_and_figures({"x"});
  std::get<ReportFigure>(report.sections[1].blocks[0]).table = "y";
  EXPECT_THROW(with_unique_names(report), AssertionError);
}

}  // namespace
}  // namespace sluice
