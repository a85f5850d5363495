// What the demo found, as text, as JSON and as a report.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sluice/report/demo.h"
#include "sluice/report/report.h"

namespace sluice {

std::string to_text(const DemoResult& result);
nlohmann::ordered_json to_json(const DemoResult& result);

Report demo_report(const DemoResult& result, ReportHeader header = {});

// The report's files, result.json and report.txt in the demo's directory.
void write_demo_report(const DemoResult& result, ReportHeader header = {});

// A row per model; the text and the page show the same.
Table demo_table(const DemoResult& result);

std::string demo_sample(const DemoModel& model);
std::vector<std::string> demo_notes(const DemoResult& result);
std::vector<std::string> demo_next_commands(const DemoResult& result);

}  // namespace sluice
