// What an ablation shows, drawn. Files are named as users of the first studies of these gates know them.
#pragma once

#include <optional>

#include "sluice/ablate/ablation_analysis.h"
#include "sluice/plot/bar_chart.h"
#include "sluice/report/report.h"

namespace sluice {

// Each is none if the plan has nothing to draw.
std::optional<ReportFigure> constants_figure(const AblatedModel& model);
std::optional<ReportFigure> layers_figure(const AblatedModel& model, const std::string& action);
std::optional<ReportFigure> heads_figure(const AblatedModel& model, const std::string& action);
std::optional<ReportFigure> controls_figure(const AblatedModel& model, const std::string& action);
std::optional<ReportFigure> head_controls_figure(const AblatedModel& model, const std::string& action);
std::optional<ReportFigure> cumulative_figure(const AblatedModel& model);
std::optional<ReportFigure> parts_figure(const AblatedModel& model);      // thirds of the depth, positions
std::optional<ReportFigure> signs_figure(const AblatedModel& model);      // sink and largest activation
std::optional<ReportFigure> estimates_figure(const AblatedModel& model);  // beside what was measured
std::optional<ReportFigure> estimated_heads_figure(const AblatedModel& model);  // of a model with estimates
ReportFigure estimated_ranking_figure(const AblatedModel& model);               // of one, too
// Of one action on all texts.
ReportFigure sensitivity_figure(const AblatedModel& model, const std::vector<LayerSensitivity>& texts);
std::optional<ReportFigure> shares_figure(const AblationResult& result);

// What captions begin with: the model and n, which is the chunks that these runs have seen. No runs: all.
std::string counted(const AblatedModel& model, const AblatedText& text, const std::vector<size_t>& runs = {});

// A line of it for every text, and one more if there is more to say.
std::vector<std::string> counted(const AblatedModel& model, const std::vector<size_t>& runs = {},
                                 const char* further = "");

inline constexpr const char* kNllLabel = "change of nll (nats per token)";
inline constexpr const char* kWhiskers =
    "Each bar is on the chunks that its run has seen. Whiskers: 95 % intervals, bootstrap over pairs of "
    "chunks.";

// "layers closed", or "layers closed, on code.txt" where there are several texts.
std::string panel_title(const std::string& what, size_t texts, const std::string& text);

// A bar with its interval.
void add_bar(BarGroup& group, const Estimate& figure);

// Nothing of it is finite if there is no interval: then none is drawn.
Extent extent_of(const std::optional<Interval>& interval);

// "layer_ablation_gates_open": of gates, or of what attention adds where there are none.
std::string layers_stem(const AblatedModel& model, const std::string& action);

}  // namespace sluice
