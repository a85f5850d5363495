// What the demo found, as text, JSON, HTML and curves.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sluice/report/demo.h"

namespace sluice {

std::string to_text(const DemoResult& result);
nlohmann::ordered_json to_json(const DemoResult& result);

// One page that needs nothing besides itself.
std::string demo_html(const DemoResult& result, const std::string& curves_svg);

// result.json, report.txt, curves.svg and report.html in the demo's directory.
void write_demo_report(const DemoResult& result);

// The columns of the table of models, and what the text and the page say alike.
std::vector<std::string> demo_columns();
std::vector<std::string> demo_row(const DemoModel& model);
std::string demo_sample(const DemoModel& model);
std::vector<std::string> demo_notes(const DemoResult& result);
std::vector<std::string> demo_next_commands(const DemoResult& result);

}  // namespace sluice
