#include "sluice/report/patch_report.h"

#include <gtest/gtest.h>

#include <limits>

#include "sluice/report/html.h"
#include "sluice/report/markdown.h"

namespace sluice {
namespace {

PatchResult patch_example() {
  const double none = std::numeric_limits<double>::quiet_NaN();
  return {.clean = {.ids = {1, 2, 3}, .tokens = {"The", " cat", " sat"}, .difference = 4},
          .corrupted = {.ids = {1, 5, 3}, .tokens = {"The", " <b>", " sat"}, .difference = -2},
          .answer = {7, " down"},
          .wrong = {8, " up"},
          .maps = {{.tap = "resid", .layers = {{.layer = 0, .positions = {0, 0.9, none}}}},
                   {.tap = "attn.gate",
                    .layers = {{.layer = 0, .positions = {0, 0, 0}, .heads = {0.1, -0.2}},
                               {.layer = 2, .positions = {0, 0, 0.5}, .heads = {0.25, 0.75}}}}}};
}

TEST(PatchReport, has_a_figure_and_a_table_for_every_map) {
  const Report report = patch_report(patch_example(), {});
  std::vector<std::string> tables, figures;
  for (const Table* table : tables_of(report)) tables.push_back(table->name);
  for (const ReportFigure* figure : figures_of(report)) figures.push_back(figure->stem);
  EXPECT_EQ(tables,
            (std::vector<std::string>{"resid_by_position", "attn.gate_by_position", "attn.gate_by_head"}));
  EXPECT_EQ(figures, tables);
}

TEST(PatchReport, keeps_every_share_in_its_tables) {
  const Report report = patch_report(patch_example(), {});
  const std::string heads = csv_of(*tables_of(report)[2]), positions = csv_of(*tables_of(report)[0]);
  EXPECT_EQ(heads, "layer,head,recovered\n0,0,0.1\n0,1,-0.2\n2,0,0.25\n2,1,0.75\n");
  EXPECT_NE(positions.find("0,2,"), std::string::npos);
  EXPECT_NE(positions.find(",0.9\n"), std::string::npos);
}

TEST(PatchReport, says_what_does_most) {
  PatchResult result = patch_example();
  std::string page = markdown_of(patch_report(result, {}));
  EXPECT_NE(page.find("attn.gate by head: layer 2, head 1 brings back 75.0"), std::string::npos) << page;
  result.direction = PatchDirection::Noise;
  page = markdown_of(patch_report(result, {}));
  EXPECT_NE(page.find("attn.gate by head: layer 0, head 1 leaves -20.0"), std::string::npos) << page;
}

TEST(PatchReport, ranks_by_how_far_a_piece_moves_the_answer_either_way) {
  PatchResult result = patch_example();
  result.maps[1].layers[0].heads = {0.1, -1.4};
  EXPECT_NE(markdown_of(patch_report(result, {})).find("layer 0, head 1 brings back -140.0"),
            std::string::npos);
  result.maps[1].layers[0].heads = {0.1, -1.4, 0.2, 0.3, 0.05};
  const std::string text = to_text(result);
  const size_t first = text.find("layer 0 head 1"), second = text.find("layer 2 head 1");
  ASSERT_NE(first, std::string::npos);
  EXPECT_LT(first, second) << text;
  EXPECT_NE(text.find("and 2 more, which do less"), std::string::npos) << text;
}

TEST(PatchReport, shows_text_of_strangers_as_it_is) {
  EXPECT_EQ(html_of(patch_report(patch_example(), {})).find("<b>"), std::string::npos);
}

}  // namespace
}  // namespace sluice
