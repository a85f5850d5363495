// Adding up the parts of a look.
#include <algorithm>

#include "sluice/analysis/look_part.h"
#include "sluice/analysis/measured_layers.h"
#include "sluice/base/error.h"

namespace sluice {
namespace {

template <class Value>
void append(std::vector<Value>& total, const std::vector<Value>& part) {
  total.insert(total.end(), part.begin(), part.end());
}

// Parts of one model have as many layers, heads and channels each.
void check_same_count(size_t before, size_t now) {
  if (before == now) return;
  throw bad_input({.what = "does not fit the parts before it",
                   .expected = fmt::format("{} places", before),
                   .got = std::to_string(now),
                   .hint = "delete it: it is done again"});
}

// Place by place.
template <class Value, class Add>
void add_places(std::vector<Value>& total, const std::vector<Value>& part, const Add& add_place) {
  if (total.empty()) total.resize(part.size());
  check_same_count(total.size(), part.size());
  for (size_t i = 0; i < part.size(); ++i) add_place(total[i], part[i]);
}

template <class Value>
void add_places(std::vector<Value>& total, const std::vector<Value>& part) {
  add_places(total, part, [](Value& sum, const Value& value) { sum.add(value); });
}

void add_layer(GateLayer& total, const GateLayer& part) {
  const bool is_first = total.by_sequence.empty();
  total.heads = is_first ? part.heads : total.heads;
  total.width = is_first ? part.width : total.width;
  check_same_count(static_cast<size_t>(total.heads), static_cast<size_t>(part.heads));
  check_same_count(static_cast<size_t>(total.width), static_cast<size_t>(part.width));
  total.values.add(part.values);
  total.first.add(part.first);
  total.others.add(part.others);
  add_places(total.by_head, part.by_head, [](GateHead& sum, const GateHead& head) {
    sum.all.add(head.all);
    sum.first.add(head.first);
    sum.closed += head.closed;
  });
  // The last sequence of a text may be shorter than the others.
  const size_t longest = std::max(total.by_position.size(), part.by_position.size());
  total.by_position.resize(longest);
  for (size_t i = 0; i < part.by_position.size(); ++i) total.by_position[i].add(part.by_position[i]);
  append(total.by_sequence, part.by_sequence);
  for (size_t half = 0; half < total.channels.size(); ++half)
    add_places(total.channels[half], part.channels[half]);
}

void add_layer(AttentionLayer& total, const AttentionLayer& part) {
  add_places(total.by_head, part.by_head, [](AttentionHead& sum, const AttentionHead& head) {
    sum.key.add(head.key);
    for (size_t half = 0; half < sum.halves.size(); ++half) sum.halves[half].add(head.halves[half]);
    sum.entropy += head.entropy;
    sum.entropies += head.entropies;
  });
  append(total.by_sequence, part.by_sequence);
}

void add_layer(ActivationLayer& total, const ActivationLayer& part) {
  if (part.largest.size > total.largest.size) {
    total.largest = part.largest;
    total.largest.sequence += std::ssize(total.by_sequence);
  }
  append(total.by_sequence, part.by_sequence);
}

void add_layer(SparsityLayer& total, const SparsityLayer& part) {
  add_places(total.before, part.before);
  for (size_t i = 0; i < kNearlyNothing.size(); ++i) {
    total.below_before[i] += part.below_before[i];
    total.below_after[i] += part.below_after[i];
  }
  total.values_before += part.values_before;
  total.values_after += part.values_after;
}

void add_layer(GateLayerRelations& total, const GateLayerRelations& part) {
  add_places(total.by_head, part.by_head, [](GateHeadRelations& sum, const GateHeadRelations& head) {
    for (size_t i = 0; i < kGateRelations; ++i) sum.with[i].add(head.with[i]);
    for (size_t half = 0; half < sum.halves.size(); ++half) {
      sum.halves[half].open.add(head.halves[half].open);
      sum.halves[half].closed.add(head.halves[half].closed);
    }
  });
}

void add_layer(ExpertsLayer& total, const ExpertsLayer& part) {
  total.tokens += part.tokens;
  add_places(total.counts, part.counts, [](int64_t& sum, int64_t count) { sum += count; });
  total.router_entropy_sum += part.router_entropy_sum;
}

template <class Layer>
void add_layers(std::vector<Layer>& total, const std::vector<Layer>& part) {
  for (const Layer& layer : part) add_layer(entry_of(total, layer.layer), layer);
}

void add_gates(std::vector<GateMeasure>& total, const std::vector<GateMeasure>& part) {
  for (const GateMeasure& gate : part) {
    auto found = std::ranges::find(total, gate.position, &GateMeasure::position);
    if (found == total.end()) found = total.insert(found, {gate.position});
    add_layers(found->layers, gate.layers);
  }
}

void add_by_token(GatesByToken& total, const GatesByToken& part) {
  for (const auto& [id, gates] : part) {
    TokenGates& sum = total[id];
    sum.first.add(gates.first);
    for (size_t half = 0; half < sum.others.size(); ++half) sum.others[half].add(gates.others[half]);
  }
}

}  // namespace

void add(LookPart& total, const LookPart& part) {
  Look& sum = total.sums;
  const Look& look = part.sums;
  sum.tokens += look.tokens;
  sum.key_floor += look.key_floor;
  sum.late_key_floor += look.late_key_floor;
  append(sum.chunks, look.chunks);
  add_gates(sum.gates, look.gates);
  add_layers(sum.attention, look.attention);
  for (const ActivationMeasure& measure : look.activations) {
    auto found = std::ranges::find_if(sum.activations, [&](const ActivationMeasure& each) {
      return each.point.name == measure.point.name;
    });
    if (found == sum.activations.end()) found = sum.activations.insert(found, {measure.point});
    add_layers(found->layers, measure.layers);
  }
  add_layers(sum.sparsity, look.sparsity);
  add_layers(sum.relations, look.relations);
  add_layers(sum.experts, look.experts);
  add_by_token(sum.by_token, look.by_token);
  total.first_tokens.insert(part.first_tokens.begin(), part.first_tokens.end());
  if (total.met.empty()) total.met.resize(part.met.size());
  for (size_t i = 0; i < std::min(part.met.size(), total.met.size()); ++i)
    total.met[i] = total.met[i] || part.met[i];
}

}  // namespace sluice
