// A report as files.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "sluice/report/report.h"

namespace sluice {

// report.html, report.md, report.json, NAME.csv for each table, STEM.svg and STEM.png for each figure. The
// directory is made if it is not there; what it has besides stays, and files of these names are replaced,
// each at once. The page comes last: where it is new, all others are.
void write_report(const Report& report, const std::filesystem::path& directory);

// The directory is made here, too. result.json: a use case's own to_json(), not the report's.
void write_result(const nlohmann::ordered_json& result, const std::filesystem::path& directory);

}  // namespace sluice
