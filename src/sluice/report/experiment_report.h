// The page of an experiment: what was asked, what was fixed beforehand, what came out, and what does not
// follow. Every sentence about a result is computed.
#pragma once

#include <filesystem>

#include "sluice/experiment/experiment_runs.h"
#include "sluice/report/report.h"

namespace sluice {

Report experiment_report(const ExperimentResult& result, ReportHeader header = {});

// As Markdown with its figure and tables, all named after the experiment: NAME.md, NAME.csv with the runs,
// NAME-variants.csv, NAME-differences.csv, NAME.svg.
void write_experiment_page(const ExperimentResult& result, const std::filesystem::path& directory,
                           ReportHeader header = {});

struct AnswerRequest {
  ExperimentRequest experiment;
  std::filesystem::path page = {};  // a directory, which gets the page; empty: no page
  ReportHeader header = {};         // of the page
};

// The whole way from an experiment to its page. What would be refused when hours of training are over, an
// answer with numbers that are not there or a directory that cannot be made, is refused before.
ExperimentResult answer_experiment(Engine& engine, AnswerRequest request, const JobControl& control = {},
                                   const SweepObserver& observer = {});

}  // namespace sluice
