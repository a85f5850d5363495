#include "sluice/nn/gate.h"

#include <algorithm>

#include "sluice/ops/arithmetic.h"
#include "sluice/ops/gate.h"
#include "sluice/ops/take_columns.h"

namespace sluice {

int64_t BlockSizes::gated_heads(GatePosition position) const {
  switch (position->tensor) {
    case GatedTensor::QueryHeads:
      return heads;
    case GatedTensor::KeyValueHeads:
      return kv_heads;
    case GatedTensor::Hidden:
      return 1;
  }
  return 0;
}

int64_t BlockSizes::gated_width(GatePosition position) const {
  return position->tensor == GatedTensor::Hidden ? hidden : head_dim;
}

int64_t BlockSizes::score_count(const GateSpec& gate) const {
  const GateShape shape{gated_heads(gate.position), gated_width(gate.position), gate.form};
  return shape.heads * shape.score_width();
}

int64_t BlockSizes::score_inputs(const GateSpec& gate) const {
  switch (gate.input) {
    case GateInput::Token:
      return hidden;
    case GateInput::Truncated:
      return gate.channels;
    case GateInput::Constant:
      return 1;  // the score itself is learned
  }
  return 0;
}

Gate::Gate(const GateSpec& spec, const BlockSizes& sizes)
    : spec_(spec),
      heads_(sizes.gated_heads(spec.position)),
      score_count_(sizes.score_count(spec)),
      score_inputs_(sizes.score_inputs(spec)) {}

void Gate::list_parameters(ParameterList& list, const std::string& prefix) {
  const std::string name = prefix + std::string(spec_.position->module);
  if (spec_.input == GateInput::Constant) {
    NamedParameter& constant =
        list.add(name + ".constant", constant_, {score_count_}, ParameterRole::GateConstant);
    constant.std = spec_.init_std;
    constant.mean = spec_.bias_init;
    return;
  }
  NamedParameter& weight = list.add(name + ".weight", scores_.weight, {score_count_, score_inputs_});
  weight.use = MatrixUse::Gate;
  weight.std = spec_.init_std;
  if (!spec_.bias) return;
  list.add(name + ".bias", scores_.bias, {score_count_}, ParameterRole::Bias).mean = spec_.bias_init;
}

LayerCounts Gate::counts() const {
  const int64_t weights = score_count_ * score_inputs_;
  // A constant is added, not multiplied.
  const int64_t flops = spec_.input == GateInput::Constant ? 0 : 2 * weights;
  return {.parameters = {.gates = weights + (spec_.bias ? score_count_ : 0)},
          .flops = {.products = flops, .gates = flops}};
}

Var Gate::scores_of(const Context& context, const Var& input) const {
  switch (spec_.input) {
    case GateInput::Token:
      return scores_.apply(context, input);
    case GateInput::Truncated:
      return scores_.apply(context, take_columns(context, input, spec_.channels));
    case GateInput::Constant:
      return repeat_row(context, use(context, constant_), input.rows());
  }
  return {};
}

Var Gate::apply(const Context& context, int64_t layer, const Var& scores, const Var& y) const {
  const Tap at{layer, spec_.position->tap};
  if (!is_probed(context, at)) return gate(context, y, scores, heads_, spec_.form);
  const Var values = gate_values(context, scores, heads_, spec_.form);
  const Var seen = tap(context, at, {scores.rows(), heads_, scores.cols() / heads_}, values);
  const GateForm as_given{
      .activation = Activation::Identity, .mode = spec_.form.mode, .granularity = spec_.form.granularity};
  return gate(context, y, seen, heads_, as_given);
}

GateSet::GateSet(const std::vector<GateSpec>& specs, const BlockSizes& sizes) {
  for (const GateSpec& spec : specs) gates_.emplace_back(spec, sizes);
}

const Gate* GateSet::at(GatePosition position) const {
  const auto found = std::ranges::find(gates_, position, &Gate::position);
  return found == gates_.end() ? nullptr : &*found;
}

void GateSet::list_parameters(ParameterList& list, const std::string& prefix) {
  for (Gate& gate : gates_) gate.list_parameters(list, prefix);
}

LayerCounts GateSet::counts() const {
  LayerCounts counts;
  for (const Gate& gate : gates_) counts += gate.counts();
  return counts;
}

void ScoredGates::add_layers(const Context& context, std::vector<LinearWeights>& layers) const {
  for (const Gate& gate : gates_.all()) {
    if (gate.is_linear()) layers.push_back(gate.weights(context));
  }
}

void ScoredGates::take_scores(const Context& context, const Var& input, std::vector<Var>& results) {
  const auto linear = std::ranges::count_if(gates_.all(), &Gate::is_linear);
  const auto first = results.end() - linear;
  auto next = first;
  for (const Gate& gate : gates_.all())
    scores_.push_back(gate.is_linear() ? *next++ : gate.scores_of(context, input));
  results.erase(first, results.end());
}

const Var& ScoredGates::scores(GatePosition position) const {
  const Gate* gate = gates_.at(position);
  SLUICE_ASSERT(gate != nullptr, "gates: none at {}", position->name);
  return scores_[static_cast<size_t>(gate - gates_.all().data())];
}

ScoredGates ScoredGates::repeated(const Context& context, int64_t count) const {
  ScoredGates all(gates_, layer_);
  for (const Var& scores : scores_) all.scores_.emplace_back(repeat_rows(context, scores.value(), count));
  return all;
}

Var ScoredGates::apply(const Context& context, GatePosition position, const Var& y) const {
  const Gate* gate = gates_.at(position);
  return gate == nullptr ? y : gate->apply(context, layer_, scores(position), y);
}

}  // namespace sluice
