// What the demo found, as text, JSON, HTML and curves. Training is in cli/demo.cpp.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sluice/data/token_shard.h"
#include "sluice/train/checkpoint_state.h"
#include "sluice/train/metrics_file.h"

namespace sluice::cli {

struct DemoModel {
  std::string variant;
  int64_t parameters = 0;
  RunState state = {};
  nlohmann::ordered_json figures = {};  // the last validation
  std::string sample = {};
  RunMetrics metrics = {};
};

struct DemoReport {
  std::string out;  // the directory that holds all of it
  std::string prompt;
  TokenShardInfo corpus;
  std::vector<DemoModel> models = {};
};

std::string demo_text(const DemoReport& report);
std::string demo_json(const DemoReport& report);

// One page that needs nothing besides itself.
std::string demo_html(const DemoReport& report, const std::string& curves_svg);

// result.json, report.txt, curves.svg and report.html in the report's directory.
void write_demo_report(const DemoReport& report);

// The columns of the table of models, and what the text and the page say alike.
std::vector<std::string> demo_columns();
std::vector<std::string> demo_row(const DemoModel& model);
std::vector<std::string> demo_notes(const DemoReport& report);
std::vector<std::string> demo_next_commands(const DemoReport& report);

}  // namespace sluice::cli
