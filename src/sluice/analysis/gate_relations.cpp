#include "sluice/analysis/gate_relations.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "sluice/analysis/attention_measure.h"

namespace sluice {
namespace {

struct RelationNames {
  std::string_view key, words;
};
constexpr RelationNames kRelationNames[] = {{"key_attention", "attention on the key"},
                                            {"value_norm", "norm of the value"},
                                            {"surprise", "surprise"},
                                            {"frequency", "log frequency"},
                                            {"position", "position"}};
static_assert(std::size(kRelationNames) == kGateRelations);

}  // namespace

std::string_view name_of(GateRelation relation) {
  return kRelationNames[static_cast<size_t>(relation)].key;
}

std::string words_of(GateRelation relation) {
  return std::string(kRelationNames[static_cast<size_t>(relation)].words);
}

bool GateExtremes::beats(const GateMoment& a, const GateMoment& b) const {
  if (a.gate != b.gate) return kind_ == Kind::Open ? a.gate > b.gate : a.gate < b.gate;
  return std::tie(a.sequence, a.position) < std::tie(b.sequence, b.position);
}

void GateExtremes::add(const GateExtremes& other) {
  for (const GateMoment& moment : other.moments_) offer(moment);
}

void GateExtremes::offer(const GateMoment& moment) {
  if (moments_.size() == kKept && !beats(moment, moments_.back())) return;
  const auto same = std::ranges::find(moments_, moment.token, &GateMoment::token);
  if (same != moments_.end()) {
    if (!beats(moment, *same)) return;
    moments_.erase(same);
  }
  const auto place =
      std::ranges::find_if(moments_, [&](const GateMoment& other) { return beats(moment, other); });
  moments_.insert(place, moment);
  if (moments_.size() > kKept) moments_.pop_back();
}

void add_relations(GateLayerRelations& layer, const GateContext& context) {
  const KnownTokens& tokens = context.tokens;
  const size_t heads = context.gates.size() / tokens.ids.size();
  layer.by_head.resize(heads);
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    for (size_t h = 0; h < heads; ++h) {
      GateHeadRelations& head = layer.by_head[h];
      const double gate = context.gates[i * heads + h];
      const auto add = [&](GateRelation relation, double value) {
        if (std::isfinite(value)) head.with[static_cast<size_t>(relation)].add(gate, value);
      };
      if (!context.key_attention.empty() && static_cast<int64_t>(i) >= tokens.key + kFirstQueries)
        add(GateRelation::KeyAttention, context.key_attention[i * heads + h]);
      if (!context.value_norms.empty()) add(GateRelation::ValueNorm, context.value_norms[i * heads + h]);
      add(GateRelation::Surprise, tokens.surprise[i]);
      add(GateRelation::Frequency, tokens.frequency[static_cast<size_t>(tokens.ids[i])]);
      add(GateRelation::Position, static_cast<double>(i));
      auto& [open, closed] = head.halves[static_cast<size_t>(tokens.sequence % 2)];
      for (GateExtremes* extremes : {&open, &closed}) {
        if (!extremes->may_want(gate)) continue;
        extremes->offer({.gate = gate,
                         .token = tokens.ids[i],
                         .sequence = tokens.sequence,
                         .position = static_cast<int64_t>(i)});
      }
    }
  }
}

void merge_halves(GateLayerRelations& layer) {
  for (GateHeadRelations& head : layer.by_head) {
    for (const GateHeadRelations::Extremes& half : head.halves) {
      head.extremes.open.add(half.open);
      head.extremes.closed.add(half.closed);
    }
  }
}

}  // namespace sluice
