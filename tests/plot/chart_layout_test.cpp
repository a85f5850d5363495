// Whatever the model's size: no text lies on another, nothing leaves its box.
#include <gtest/gtest.h>

#include "tests/plot/recording_canvas.h"
#include "tests/plot/sample_charts.h"

namespace sluice {
namespace {

constexpr SampleModel kSampleModels[] = {{1, 1}, {6, 8}, {28, 16}, {64, 64}, {1, 64}, {64, 1}};

// Slack for sums that end in another last bit.
void expect_tidy(const RecordingCanvas& canvas, const Box& box, const std::string& what) {
  const Box page{box.left - 1e-6, box.top - 1e-6, box.width + 2e-6, box.height + 2e-6};
  EXPECT_EQ(canvas.collision(page), "") << what;
  EXPECT_EQ(canvas.escape(page), "") << what;
  EXPECT_FALSE(canvas.texts.empty()) << what;
}

void expect_tidy(const SampleChart& chart, SampleModel model, double width, double height) {
  const Panel panel = chart.make(model);
  const Box box{5, 7, width == 0 ? panel.width : width, height == 0 ? panel.height : height};
  RecordingCanvas canvas;
  panel.draw(canvas, box);
  expect_tidy(canvas, box,
              chart.name + " of " + std::to_string(model.layers) + " x " + std::to_string(model.heads) +
                  " in " + std::to_string(box.width) + " x " + std::to_string(box.height));
}

TEST(ChartLayout, at_its_natural_size_nothing_overlaps_or_leaves) {
  for (const SampleChart& chart : sample_charts())
    for (const SampleModel model : kSampleModels) expect_tidy(chart, model, 0, 0);
}

TEST(ChartLayout, in_a_small_box_nothing_overlaps_or_leaves) {
  for (const SampleChart& chart : sample_charts()) {
    if (chart.name == "tokens") continue;  // its height follows from its width
    for (const SampleModel model : kSampleModels) expect_tidy(chart, model, 330, 290);
  }
}

TEST(ChartLayout, even_a_box_too_small_for_anything_does_no_harm) {
  for (const SampleChart& chart : sample_charts())
    for (const SampleModel model : {SampleModel{6, 8}, {64, 16}})
      for (const double size : {1.0, 60.0}) {
        RecordingCanvas canvas;
        EXPECT_NO_THROW(chart.make(model).draw(canvas, {0, 0, size, size})) << chart.name << " in " << size;
      }
}

TEST(ChartLayout, figures_of_panels_have_room_for_all_of_them_and_for_the_caption) {
  for (const size_t tokens : {1, 6, 28, 64, 512}) {
    const Figure figure = sample_panels(tokens);
    RecordingCanvas canvas;
    figure.draw(canvas);
    expect_tidy(canvas, {0, 0, figure.width, figure.height}, "panels of " + std::to_string(tokens));
  }
}

}  // namespace
}  // namespace sluice
