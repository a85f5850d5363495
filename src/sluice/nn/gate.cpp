#include "sluice/nn/gate.h"

#include "sluice/ops/arithmetic.h"
#include "sluice/ops/gate.h"
#include "sluice/ops/take_columns.h"

namespace sluice {

std::string_view tap_point(GatePosition position) {
  switch (position) {
    case GatePosition::G1:
      return points::kGate;
    case GatePosition::G2:
      return points::kGateG2;
    case GatePosition::G3:
      return points::kGateG3;
    case GatePosition::G4:
      return points::kGateG4;
    case GatePosition::G5:
      return points::kGateG5;
  }
  return "?";
}

Var Gate::scores_of(const Context& context, const Var& input) {
  switch (spec.input) {
    case GateInput::Token:
      return scores.apply(context, input);
    case GateInput::Truncated:
      return scores.apply(context, take_columns(context, input, spec.channels));
    case GateInput::Constant:
      return repeat_row(context, use(context, constant), input.rows());
  }
  return {};
}

Var Gate::apply(const Context& context, const TapName& name, const Var& raw, const Var& y) const {
  if (!watched(context, name)) return gate(context, y, raw, heads, spec.form);
  const Tensor values = gate_values(context, raw.value(), heads, spec.form);
  const Var seen = tap(context, name, values.shape(), Var(values));
  const GateForm as_given{
      .activation = Activation::Identity, .mode = spec.form.mode, .granularity = spec.form.granularity};
  return gate(context, y, Var(seen.value().reshaped(raw.shape())), heads, as_given);
}

}  // namespace sluice
