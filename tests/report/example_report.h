// A small report with a block of every kind, for the tests of the writers.
#pragma once

#include <string>

#include "sluice/report/report.h"

namespace sluice {

// A square; `label` is written into it. The clip gives the drawing an id.
inline Figure example_drawing(const std::string& label) {
  return {.width = 100, .height = 50, .title = label, .draw = [label](Canvas& canvas) {
            const Clip clip(canvas, {10, 10, 30, 30});
            canvas.rectangle({10, 10, 30, 30}, {0, 114, 178});
            canvas.text({50, 30}, label, {});
          }};
}

inline Table example_table(const std::string& name) {
  return {.name = name,
          .caption = "Gates of " + name,
          .columns = {{.name = "model", .kind = ColumnKind::Text},
                      {.name = "mean gate",
                       .key = "gate_mean",
                       .unit = "share",
                       .note = "over all heads",
                       .format = {.style = NumberStyle::Fixed, .digits = 2}},
                      {.name = "loss"}},
          .rows = {{name, 0.4381, Estimate{2, Interval{1.5, 2.5}}}, {"other", Missing{}, 3.0}}};
}

// `name` stands in every place that can hold a text of strangers.
inline Report example_report(const std::string& name) {
  return {
      .title = "Gates of " + name,
      .summary = {Paragraph{"About " + name}},
      .header = {.command = "sluice gates " + name,
                 .version = "0.1.0",
                 .sources = {{.role = "model", .name = name, .checksum = "crc32 00c0ffee"}},
                 .machine = name,
                 .time = "2026-01-31T09:30:00Z",
                 .seconds = 1.5},
      .sections = {
          {.title = "Section " + name,
           .blocks = {BulletList{{name, "two"}}, Note{name}, Finding{.verdict = Verdict::Lower, .text = name},
                      Preformatted{.text = name + "\n  b\n", .label = name}, example_table(name)},
           .subsections = {{.title = "Below " + name,
                            .blocks = {ReportFigure{.stem = name + "_gates",
                                                    .figure = example_drawing(name),
                                                    .caption = "Drawn: " + name,
                                                    .table = name}}}}},
          {.title = "Last", .blocks = {ReportFigure{.stem = "x", .figure = example_drawing(name)}}}}};
}

}  // namespace sluice
