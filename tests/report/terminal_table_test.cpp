#include "sluice/report/terminal_table.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(TerminalTable, is_as_wide_as_its_cells_and_writes_numbers_as_programs_read_them) {
  const Table table{.name = "models",
                    .columns = {{.name = "model", .kind = ColumnKind::Text},
                                {.name = "parameters"},
                                {.name = "sink", .format = {.style = NumberStyle::Fixed, .digits = 3}}},
                    .rows = {{"baseline", int64_t{1234567}, Estimate{0.25, Interval{0.24, 0.26}}},
                             {"gated", int64_t{12}, 0.5},
                             {"lost", Missing{}, Missing{}}}};
  EXPECT_EQ(terminal_table(table),
            "model     parameters                  sink\n"
            "baseline     1234567  0.250 [0.240, 0.260]\n"
            "gated             12                 0.500\n"
            "lost               -                     -\n");
}

}  // namespace
}  // namespace sluice
