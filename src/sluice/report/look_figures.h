// What a look at a model shows, drawn. Files are named as users of the first studies of these gates know
// them.
#pragma once

#include "sluice/analysis/study.h"
#include "sluice/report/report.h"

namespace sluice {

// How the colours of attention maps are spread; or without the first key, which would outshine all others.
enum class MapScale { Linear, Log, WithoutFirst };

// Of one gate position of a model.
ReportFigure gate_distribution_figure(const StudiedModel& model, const GateMeasure& gate);
ReportFigure head_map_figure(const StudiedModel& model, const GateMeasure& gate);
ReportFigure first_token_figure(const StudiedModel& model, const GateMeasure& gate);
ReportFigure first_words_figure(const StudiedModel& model, const GateMeasure& gate);  // of model.first_words
ReportFigure layer_distributions_figure(const StudiedModel& model, const GateMeasure& gate);
ReportFigure gate_by_position_figure(const StudiedModel& model, const GateMeasure& gate);
ReportFigure second_text_figure(const StudiedModel& model, const GateMeasure& gate,
                                const GateMeasure& second);
ReportFigure channel_figure(const StudiedModel& model, const GateMeasure& gate);  // elementwise gates

// Of the gate at g1.
ReportFigure token_map_figure(const StudiedModel& model);
ReportFigure token_head_map_figure(const StudiedModel& model);
ReportFigure input_types_figure(const StudiedModel& model);
ReportFigure relations_figure(const StudiedModel& model);
ReportFigure gate_over_sink_figure(const StudiedModel& model);
ReportFigure sparsity_figure(const StudiedModel& model);
ReportFigure head_scatter_figure(const StudiedModel& model);

// Of any model.
ReportFigure attention_maps_figure(const StudiedModel& model, MapScale scale);
ReportFigure sink_figure(const StudiedModel& model);
ReportFigure sink_head_map_figure(const StudiedModel& model);
ReportFigure entropy_head_map_figure(const StudiedModel& model);
ReportFigure activation_figure(const StudiedModel& model);
ReportFigure token_strip_figure(const StudiedModel& model);
ReportFigure lens_figure(const StudiedModel& model);

// Of several.
ReportFigure compared_gates_figure(const Study& study);
ReportFigure compared_layers_figure(const Study& study);

}  // namespace sluice
