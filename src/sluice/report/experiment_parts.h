// Tables and figures of an experiment's page.
#pragma once

#include "sluice/experiment/experiment_result.h"
#include "sluice/report/report.h"

namespace sluice {

// Of those that some run has a number for.
std::vector<ExperimentFigure> measured_figures(const ExperimentResult& result);

// With its interval, if it has one.
TableCell cell_over_seeds(const std::optional<MeanInterval>& mean);

Interval around(const MeanInterval& mean);

// NAME: every run that has ended.
Table experiment_runs_table(const ExperimentResult& result);

// NAME-variants: means over seeds.
Table experiment_variants_table(const ExperimentResult& result);

// NAME-differences: at the last look that was reached.
Table experiment_differences_table(const ExperimentResult& result);

// NAME-ends: how the runs of each variant ended, of experiments with conditions.
Table experiment_ends_table(const ExperimentResult& result);

// NAME: bars by variant, or lines over conditions.
ReportFigure experiment_figure(const ExperimentResult& result);

// NAME-differences: the same for what variants differ by. Bars of losses begin at 0, where small differences
// are not seen.
ReportFigure experiment_differences_figure(const ExperimentResult& result);

// What breaking the trained models did, over seeds: NAME-interventions with its figure, NAME-heads.
// Their verdicts: of interventions on gates, the others are controls.
std::vector<ReportBlock> experiment_breaking_findings(const ExperimentResult& result);
std::vector<ReportBlock> experiment_breaking_blocks(const ExperimentResult& result);

// NAME-course: a row for every checkpoint of every run, and lines over the tokens seen.
Table experiment_course_table(const ExperimentResult& result);
ReportFigure experiment_course_figure(const ExperimentResult& result);

}  // namespace sluice
