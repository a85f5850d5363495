#include "sluice/probe/intervention.h"

#include <algorithm>

#include "sluice/base/error.h"

namespace sluice {

bool Intervention::takes_from(const TapName& name) const {
  if (change != Change::OverallMean) return tap.matches(name);
  // Of every layer, whichever ones are changed.
  const auto* point = std::ranges::find(points::kAll, name.point, &TapPoint::name);
  return point != points::kAll.end() && tap.matches_point(*point);
}

void check_calibrated(std::span<const Intervention> interventions) {
  for (const Intervention& each : interventions) {
    if (!each.needs_calibration() || each.calibration != nullptr) continue;
    throw usage_error({.where = fmt::format("intervention at {}", each.tap.text()),
                       .what = "means and shuffles come from calibration text, and there is none",
                       .hint = "--calibration FILE names it: text like the data, but not the data"});
  }
}

Intervener::Intervener(std::vector<Intervention> interventions) : interventions_(std::move(interventions)) {
  check_calibrated(interventions_);
}

void Intervener::begin_pass(const PassTokens& tokens) {
  sequences_ = tokens.sequences;
  past_ = tokens.past;
}

bool Intervener::wants(const TapName& name) const {
  return std::ranges::any_of(interventions_,
                             [&](const Intervention& each) { return each.tap.matches(name); });
}

void check_effect(std::span<const Intervention> interventions, const std::vector<bool>& met) {
  for (size_t i = 0; i < interventions.size(); ++i) {
    if (met[i]) continue;
    throw usage_error({.where = fmt::format("intervention at {}", interventions[i].tap.text()),
                       .what = "no token of the text has such a position"});
  }
}

void Intervener::check_effect() const {
  sluice::check_effect(interventions_, met_);
}

Tensor Intervener::visit(const Context& context, const TapName& name, const Tensor& value) {
  const Shape& shape = value.shape();
  SLUICE_ASSERT(shape[0] == sequences_.tokens(), "intervene: {} has {} rows in a pass of {} tokens",
                name.text(), shape[0], sequences_.tokens());
  const Tensor changed = value.copy(context.engine.pool());
  SequenceRows rows{.name = name,
                    .heads = shape.rank() == 3 ? shape[1] : 1,
                    .channels = shape[shape.rank() - 1],
                    .has_heads = shape.rank() == 3,
                    .past = past_};
  for (size_t i = 0; i < interventions_.size(); ++i) {
    if (!interventions_[i].tap.matches(name)) continue;
    for (int64_t s = 0; s < sequences_.count(); ++s) {
      const int64_t start = sequences_.starts()[static_cast<size_t>(s)];
      rows.first = changed.data<float>() + start * rows.heads * rows.channels;
      rows.length = sequences_.length(s);
      rows.sequence = first_sequence_ + s;
      if (change_rows(interventions_[i], rows)) met_[i] = true;
    }
  }
  return changed;
}

}  // namespace sluice
