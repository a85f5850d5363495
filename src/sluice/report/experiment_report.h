// The page of an experiment: what was asked, what was fixed beforehand, what came out, and what does not
// follow. Every sentence about a result is computed.
#pragma once

#include <filesystem>

#include "sluice/experiment/experiment_runs.h"
#include "sluice/report/report.h"

namespace sluice {

Report experiment_report(const ExperimentResult& result, ReportHeader header = {});

// Makes it, if it is not there: a caller that trains for hours does so before.
void prepare_page_directory(const std::filesystem::path& directory);

// As Markdown with its figure and tables, all named after the experiment: NAME.md, NAME.csv with the runs,
// NAME-variants.csv, NAME-differences.csv, NAME.svg.
void write_experiment_page(const ExperimentResult& result, const std::filesystem::path& directory,
                           ReportHeader header = {});

}  // namespace sluice
