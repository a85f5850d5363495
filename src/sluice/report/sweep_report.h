// A sweep as a report: its variants with intervals over seeds, how they differ from the first, how they
// trained.
#pragma once

#include <filesystem>
#include <span>

#include "sluice/experiment/sweep.h"
#include "sluice/report/report.h"
#include "sluice/report/validations_table.h"

namespace sluice {

// Every run that has ended, with the metrics in its directory; also one that diverged.
std::vector<SeededRun> read_sweep_runs(const SweepResult& result);

Report sweep_report(const SweepResult& result, std::span<const SeededRun> runs, ReportHeader header = {});

// Beside result.json and table.csv, which run_sweep() has written.
void write_sweep_report(const SweepResult& result, const SweepRequest& request, ReportHeader header = {});

}  // namespace sluice
