// Tables and figures of an experiment's page.
#pragma once

#include "sluice/experiment/experiment_result.h"
#include "sluice/plot/chart_frame.h"
#include "sluice/report/planned_finding.h"
#include "sluice/report/report.h"
#include "sluice/report/table_parts.h"

namespace sluice {

// Those of which some run has a number; one that diverged has none that is compared.
std::vector<ExperimentFigure> measured_figures(const ExperimentResult& result);

// When it was set is for the ledger to say (experiment_report.cpp).
inline constexpr const char* kMarginOfPlan = "of the plan";

// What figures draw around a mean, as bars or as bands. NaN ends: nothing is drawn.
Interval drawn_interval(const std::optional<MeanInterval>& mean);

// Whether means are all positive and span more than a linear axis can show.
bool spans_magnitudes(const Extent& means);

// Of panels with sinks: begins at 0, with a line for what uniform attention puts on the first token, and one
// for what counts as a sink if the largest is not far below it. Figures say in their captions what these are.
ChartAxis sink_axis(double uniform, double largest);
std::string sink_caption(double uniform, double largest);

// What the page begins with: the answer that somebody wrote, what was best, and verdicts.
std::vector<ReportBlock> experiment_summary(const ExperimentResult& result);

// How many differences would be called one at the looks that are shown if there were none; empty: no look
// was reached.
std::string experiment_chance_text(const ExperimentResult& result);

// NAME: every run that has ended.
Table experiment_runs_table(const ExperimentResult& result);

// NAME-variants: means over seeds.
Table experiment_variants_table(const ExperimentResult& result);

// NAME-differences: at the last look that was reached.
Table experiment_differences_table(const ExperimentResult& result);

// NAME-slopes: how these change over the conditions.
Table experiment_slopes_table(const ExperimentResult& result);

// NAME-ends: how the runs of each variant ended, of experiments with conditions.
Table experiment_ends_table(const ExperimentResult& result);

// NAME: dots by variant, or lines over conditions.
ReportFigure experiment_figure(const ExperimentResult& result);

// NAME-differences: bars or lines of what variants differ by.
ReportFigure experiment_differences_figure(const ExperimentResult& result);

// What breaking the trained models did, over seeds: NAME-interventions with its figure, NAME-effects by
// model, NAME-heads, NAME-removals by model. Their verdicts: of what is no control.
int64_t looked_at_effects(const ExperimentResult& result);  // how many verdicts there are
std::vector<ReportBlock> experiment_breaking_findings(const ExperimentResult& result);
std::vector<ReportBlock> experiment_breaking_blocks(const ExperimentResult& result);

// NAME-course: a row for every checkpoint of every run, and lines over the tokens seen.
Table experiment_course_table(const ExperimentResult& result);
ReportFigure experiment_course_figure(const ExperimentResult& result);

}  // namespace sluice
