// How alike two texts, or two halves of one, see a model: sets of channels and heads, orders of heads, layers
// and tokens.
#pragma once

#include "sluice/analysis/look.h"

namespace sluice {

// Of a gate. NaN of two empty sets, and of an order that has nothing to order.
struct GateAgreement {
  double closed = 0, open = 0, dynamic = 0;  // Jaccard index of the sets of channels
  double heads = 0;                          // Spearman correlation of the means of all heads of all layers
  double head_numbers = 0;                   // likewise of the heads' means over layers
  double layers = 0;                         // and of the layers' means
};

GateAgreement split_half(const GateMeasure& gate);
GateAgreement agreement(const GateMeasure& gate, const GateMeasure& other);  // of the same model

// Jaccard index of the tokens at which a head is most open or most closed in two halves: mean over heads.
struct ExtremesAgreement {
  double open = 0, closed = 0;
};
ExtremesAgreement split_half(const std::vector<GateLayerRelations>& layers);

// Of attention on the key in two halves.
double sink_order_agreement(const std::vector<AttentionLayer>& layers);  // Spearman, all heads of all layers
double sink_set_agreement(const std::vector<AttentionLayer>& layers, double epsilon);  // Jaccard, heads above

nlohmann::ordered_json to_json(const GateAgreement& agreement);

}  // namespace sluice
