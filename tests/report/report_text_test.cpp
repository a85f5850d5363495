// A report as Markdown and as JSON.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sluice/report/markdown.h"
#include "tests/report/example_report.h"

namespace sluice {
namespace {

TEST(ReportMarkdown, is_the_tree_as_text) {
  EXPECT_EQ(markdown_of(example_report("m")),
            R"(# Gates of m

About m

- command: sluice gates m
- sluice: 0.1.0
- model: m (crc32 00c0ffee)
- machine: m
- time: 2026-01-31T09:30:00Z
- seconds: 1.5

## Section m

- m
- two

> m

**lower:** m

m

```
m
  b
```

Gates of m

| model | mean gate (share) | loss |
|---|---:|---:|
| m | 0.44 | 2.00 [1.50, 2.50] |
| other | – | 3.000 |

Numbers: [m.csv](m.csv)

### Below m

![m](m_gates.svg)

Drawn: m

## Last

![m](x.svg)
)");
}

TEST(ReportMarkdown, shows_markup_as_it_is) {
  const auto markdown = [](const std::string& text) {
    return markdown_of({.title = "t", .summary = {Paragraph{text}}}).substr(std::string("# t\n\n").size());
  };
  EXPECT_EQ(markdown("a *b* _c_ [d](e) <script> | `f` & ~g~ \\"),
            "a \\*b\\* \\_c\\_ [d\\](e) \\<script\\> \\| \\`f\\` \\& \\~g\\~ \\\\\n");
  EXPECT_EQ(markdown("2 [1, 3], [a][b]"), "2 [1, 3], [a\\][b]\n");
  EXPECT_EQ(markdown("[a]: b"), "\\[a\\]: b\n");
  EXPECT_EQ(markdown("# no heading"), "\\# no heading\n");
  EXPECT_EQ(markdown("12. no list"), "12\\. no list\n");
  EXPECT_EQ(markdown("- no list"), "\\- no list\n");
  EXPECT_EQ(markdown("    no code\nno line"), "no code no line\n");
  EXPECT_EQ(markdown("1.5 times"), "1.5 times\n");
}

TEST(ReportMarkdown, fences_text_that_has_fences) {
  const std::string text = markdown_of({.title = "t", .summary = {Preformatted{.text = "a\n````\nb"}}});
  EXPECT_EQ(text, "# t\n\n`````\na\n````\nb\n`````\n");
}

TEST(ReportMarkdown, leaves_folded_tables_to_their_files) {
  Table table = example_table("m");
  table.view = TableView::Folded;
  const std::string text = markdown_of({.title = "t", .summary = {table}});
  EXPECT_EQ(text, "# t\n\nGates of m\n\nNumbers: [m.csv](m.csv)\n");
}

TEST(ReportJson, is_the_tree_with_every_digit_and_figures_by_their_files) {
  EXPECT_EQ(to_json(example_report("a/b")), nlohmann::ordered_json::parse(R"({
    "title": "Gates of a/b",
    "header": {
      "command": "sluice gates a/b",
      "version": "0.1.0",
      "sources": [{"role": "model", "name": "a/b", "checksum": "crc32 00c0ffee"}],
      "machine": "a/b",
      "timing": {"time": "2026-01-31T09:30:00Z", "seconds": 1.5}
    },
    "summary": [{"kind": "text", "text": "About a/b"}],
    "sections": [
      {
        "title": "Section a/b",
        "anchor": "section-a-b",
        "blocks": [
          {"kind": "list", "items": ["a/b", "two"]},
          {"kind": "note", "text": "a/b"},
          {"kind": "finding", "verdict": "lower", "text": "a/b"},
          {"kind": "preformatted", "label": "a/b", "text": "a/b\n  b\n"},
          {
            "kind": "table",
            "file": "a_b.csv",
            "caption": "Gates of a/b",
            "columns": [
              {"key": "model", "name": "model"},
              {"key": "gate_mean", "name": "mean gate", "unit": "share", "note": "over all heads"},
              {"key": "loss", "name": "loss"}
            ],
            "rows": [["a/b", 0.4381, {"value": 2.0, "interval": [1.5, 2.5]}], ["other", null, 3.0]]
          }
        ],
        "sections": [
          {
            "title": "Below a/b",
            "anchor": "below-a-b",
            "blocks": [
              {
                "kind": "figure",
                "files": ["a_b_gates.svg", "a_b_gates.png"],
                "title": "a/b",
                "caption": "Drawn: a/b",
                "numbers": "a_b.csv"
              }
            ],
            "sections": []
          }
        ]
      },
      {
        "title": "Last",
        "anchor": "last",
        "blocks": [{"kind": "figure", "files": ["x.svg", "x.png"], "title": "a/b", "caption": ""}],
        "sections": []
      }
    ]
  })"));
}

}  // namespace
}  // namespace sluice
