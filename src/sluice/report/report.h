// A report as a tree: sections of text, findings, tables and figures. Who builds one decides what it says;
// the writers beside (html.h, markdown.h, write_report.h) decide how it looks. How to make one:
// docs/reports.md
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sluice/plot/figure.h"
#include "sluice/report/table.h"
#include "sluice/report/verdict.h"

namespace sluice {

// All texts are plain: whatever stands in them is shown as it is.
struct Paragraph {
  std::string text;
};

struct BulletList {
  std::vector<std::string> items;
};

// Small print: what was measured on how much, and what does not follow.
struct Note {
  std::string text;
};

// A verdict in words, marked so that the eye finds it. finding_of() makes one from figures.
struct Finding {
  Verdict verdict = Verdict::Undecided;
  std::string text;
};

// Commands to copy, text that a model wrote: line ends and spaces stay.
struct Preformatted {
  std::string text;
  std::string label = {};  // above it
};

struct ReportFigure {
  std::string stem;  // of its files, without the ending: "qwen_gate_distribution"
  Figure figure;
  std::string caption = {};
  std::string table = {};  // the name of the table with its numbers, which is in the same report; empty: none
};

using ReportBlock = std::variant<Paragraph, BulletList, Note, Finding, Preformatted, Table, ReportFigure>;

struct Section {
  std::string title;
  std::string anchor = {};  // empty: made of the title
  std::vector<ReportBlock> blocks = {};
  std::vector<Section> subsections = {};
};

// A model or a text that the report is about.
struct ReportSource {
  std::string role;           // "model", "data", "tokenizer"
  std::string name;           // as the user named it
  std::string checksum = {};  // "crc32 1f2e3d4c"; empty: not known
};

// How the report was made. report_header.h fills in what does not depend on the use case.
struct ReportHeader {
  std::string command = {};  // as one would type it again
  std::string version = {};
  std::vector<ReportSource> sources = {};
  std::string machine = {};
  // The only part that differs when the same is done again.
  std::string time = {};               // when it was finished: "2026-01-31T09:30:00Z"
  std::optional<double> seconds = {};  // how long it took
};

struct Report {
  std::string title;
  std::vector<ReportBlock> summary = {};  // what a reader in a hurry should know
  ReportHeader header = {};
  std::vector<Section> sections = {};
};

Finding finding_of(const Difference& difference);

// The same tree: numbers with all their digits, figures by the names of their files.
nlohmann::ordered_json to_json(const Report& report);

// In the order of the page.
std::vector<const Table*> tables_of(const Report& report);
std::vector<const ReportFigure*> figures_of(const Report& report);

}  // namespace sluice
