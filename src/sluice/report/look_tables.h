// The numbers of a look at a model, as tables.
#pragma once

#include "sluice/analysis/comparison.h"
#include "sluice/report/table.h"

namespace sluice {

Table gates_by_layer(const StudiedModel& model, const GateMeasure& gate);
Table gates_by_head(const StudiedModel& model, const GateMeasure& gate);
Table gates_by_position(const StudiedModel& model, const GateMeasure& gate);
Table channels_by_layer(const StudiedModel& model, const GateMeasure& gate);
Table channels_by_head(const StudiedModel& model, const GateMeasure& gate);
Table ranked_gates(const StudiedModel& model, const GateMeasure& gate);  // the most closed and the most open
Table first_words_table(const StudiedModel& model, const GateMeasure& gate);  // the gate of model.first_words
Table second_text_table(const StudiedModel& model, const GateMeasure& gate, const GateMeasure& second);

// Of the gate at g1.
Table gates_by_token(const StudiedModel& model);
Table ranked_token_table(const StudiedModel& model);
Table input_types_table(const StudiedModel& model);
Table input_types_by_layer(const StudiedModel& model);
Table input_type_pairs(const StudiedModel& model);
Table relations_table(const StudiedModel& model);
Table extreme_tokens(const StudiedModel& model);

// Of any model.
Table lens_table(const StudiedModel& model);
Table sparsity_table(const StudiedModel& model);
Table attention_by_layer(const StudiedModel& model);
Table sink_rates(const StudiedModel& model);
Table attention_by_head(const StudiedModel& model);
Table activations_table(const StudiedModel& model);

// A row for each model; for each gate position of each.
Table models_table(const Study& study);
Table gates_table(const Study& study);
Table differences_table(const ModelComparison& comparison);
Table compared_layers(const Study& study);

}  // namespace sluice
