#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/plot/line_chart.h"
#include "sluice/plot/panels.h"
#include "sluice/report/experiment_parts.h"

namespace sluice {
namespace {

struct CourseFigure {
  const char* key;
  const char* title;
  double CoursePoint::*value;
  int digits;
};

constexpr CourseFigure kCourseFigures[] = {
    {"loss", "loss, nats per token", &CoursePoint::loss, 4},
    {"sink", "sink", &CoursePoint::sink, 4},
    {"max_activation", "largest activation", &CoursePoint::max_activation, 2},
    {"first_value", "value norm, first token / others", &CoursePoint::first_value, 3},
    {"gate_mean", "mean gate", &CoursePoint::gate_mean, 4}};

double largest_sink_on_course(const ExperimentResult& result) {
  Extent sinks;
  for (const RunCourse& course : result.courses)
    for (const CoursePoint& point : course.points) sinks.add(point.sink);
  return sinks.high;
}

// A line for each run in the style of its variant, which the first of them names.
LineChart course_chart(const ExperimentResult& result, const CourseFigure& figure) {
  LineChart chart{.title = figure.title,
                  .x = {.label = "tokens seen"},
                  .y = {.label = figure.title},
                  .legend = LegendPlace::None};
  if (figure.value == &CoursePoint::sink)
    chart.y = sink_axis(result.sink_floor, largest_sink_on_course(result));
  for (size_t v = 0; v < result.variants.size(); ++v) {
    std::string name = result.variants[v].point.name();
    for (const RunCourse& course : result.courses) {
      if (course.variant != result.variants[v].point.name()) continue;
      Series line{.name = std::exchange(name, ""), .style = style_number(v)};
      for (const CoursePoint& point : course.points) {
        line.x.push_back(static_cast<double>(point.tokens));
        line.y.push_back(point.*figure.value);
      }
      chart.series.push_back(std::move(line));
    }
  }
  return chart;
}

}  // namespace

Table experiment_course_table(const ExperimentResult& result) {
  Table table{.name = result.experiment.name + "-course",
              .caption = "Every checkpoint of every run",
              .columns = {{.name = "variant", .kind = ColumnKind::Text},
                          {.name = "seed"},
                          {.name = "step"},
                          {.name = "tokens"}},
              .view = TableView::FileOnly};
  for (const CourseFigure& figure : kCourseFigures)
    table.columns.push_back({.name = figure.title,
                             .key = figure.key,
                             .format = {.style = NumberStyle::Fixed, .digits = figure.digits}});
  for (const RunCourse& course : result.courses) {
    for (const CoursePoint& point : course.points) {
      table.rows.push_back({course.variant, int64_t{course.seed}, point.step, point.tokens});
      for (const CourseFigure& figure : kCourseFigures) table.rows.back().emplace_back(point.*figure.value);
    }
  }
  return table;
}

ReportFigure experiment_course_figure(const ExperimentResult& result) {
  Panels panels{
      .columns = 2,
      .caption = {fmt::format("A line for each run, {} of them; each point is measured on the first {} "
                              "held-out sequences. {}",
                              result.courses.size(), kMeasuredSequences,
                              sink_caption(result.sink_floor, largest_sink_on_course(result)))}};
  for (const CourseFigure& figure : kCourseFigures)
    panels.panels.push_back(panel_of(course_chart(result, figure)));
  panels.legend = legend_of(course_chart(result, kCourseFigures[0]).series);
  const std::string name = result.experiment.name + "-course";
  return {.stem = name, .figure = figure_of(std::move(panels)), .table = name};
}

}  // namespace sluice
