#include "sluice/report/table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

TEST(TableCsv, quotes_what_needs_it_and_keeps_every_digit) {
  const Table table{.name = "t",
                    .columns = {{.name = "model", .kind = ColumnKind::Text},
                                {.name = "mean gate", .key = "gate,mean"},
                                {.name = "n"}},
                    .rows = {{"plain", 0.1 + 0.2, int64_t{1234567}},
                             {"a, \"b\"\nc", 1e-300, int64_t{-1}},
                             {"none", Missing{}, Missing{}},
                             {"nan", std::nan(""), int64_t{0}}}};
  EXPECT_EQ(csv_of(table),
            "model,\"gate,mean\",n\n"
            "plain,0.30000000000000004,1234567\n"
            "\"a, \"\"b\"\"\nc\",1e-300,-1\n"
            "none,,\n"
            "nan,,0\n");
}

TEST(TableCsv, gives_a_column_with_intervals_three) {
  const Table table{.name = "t",
                    .columns = {{.name = "loss"}, {.name = "x"}},
                    .rows = {{Estimate{2, Interval{1.5, 2.5}}, 1.0}, {Missing{}, 2.0}, {3.0, 3.0}}};
  EXPECT_EQ(csv_of(table), "loss,loss_low,loss_high,x\n2,1.5,2.5,1\n,,,2\n3,,,3\n");
}

TEST(TableCsv, refuses_a_row_with_more_or_fewer_cells_than_columns) {
  EXPECT_THROW(csv_of({.name = "t", .columns = {{.name = "a"}}, .rows = {{1.0, 2.0}}}), AssertionError);
  EXPECT_THROW(csv_of({.name = "t", .columns = {{.name = "a"}, {.name = "b"}}, .rows = {{1.0}}}),
               AssertionError);
}

TEST(TableCell, is_written_for_people) {
  const TableColumn column{.name = "x", .format = {.style = NumberStyle::Fixed, .digits = 2}};
  EXPECT_EQ(cell_text(Missing{}, column), "–");
  EXPECT_EQ(cell_text("a\"b", column), "a\"b");
  EXPECT_EQ(cell_text(int64_t{12345}, column), "12,345");
  EXPECT_EQ(cell_text(3.14159, column), "3.14");
  EXPECT_EQ(cell_text(Estimate{2, Interval{1.5, 2.5}}, column), "2.00 [1.50, 2.50]");
}

TEST(TableCell, without_a_finite_number_is_missing) {
  EXPECT_TRUE(is_missing(Missing{}));
  EXPECT_TRUE(is_missing(std::nan("")));
  EXPECT_TRUE(is_missing(Estimate{std::nan(""), Interval{0, 1}}));
  EXPECT_FALSE(is_missing(0.0));
  EXPECT_FALSE(is_missing(""));
}

}  // namespace
}  // namespace sluice
