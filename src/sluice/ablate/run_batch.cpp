#include "sluice/ablate/run_batch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sluice/nn/tap_points.h"

namespace sluice {
namespace {

double mean_of_known(const std::vector<double>& values) {
  double sum = 0;
  int64_t count = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

bool is_sign(const TapName& name) {
  return name.point == points::kSink || name.point == points::kResidual;
}

bool is_changed(const RunBatch::Member& member, const TapName& name) {
  return member.changes != nullptr && std::ranges::any_of(*member.changes, [&](const Intervention& each) {
           return each.tap.matches(name);
         });
}

}  // namespace

LayerSigns::LayerSigns(int64_t layers)
    : sink(static_cast<size_t>(layers), std::numeric_limits<double>::quiet_NaN()), activation(sink) {}

double LayerSigns::mean_sink() const {
  return mean_of_known(sink);
}

double LayerSigns::mean_activation() const {
  return mean_of_known(activation);
}

void RunBatch::begin_pass(const PassTokens& tokens) {
  SLUICE_ASSERT(tokens.sequences.count() == std::ssize(members_) && tokens.past == 0,
                "runs: {} sequences for {} members", tokens.sequences.count(), members_.size());
  sequences_ = tokens.sequences;
}

bool RunBatch::changes(const TapName& name) const {
  return std::ranges::any_of(members_, [&](const Member& member) { return is_changed(member, name); });
}

bool RunBatch::wants(const TapName& name) const {
  const bool looks = is_sign(name) && std::ranges::any_of(members_, [](const Member& member) {
                       return member.signs != nullptr;
                     });
  return looks || changes(name);
}

Tensor RunBatch::visit(const Context& context, const TapName& name, const Tensor& value) {
  Tensor current = value;
  if (changes(name)) {
    current = value.copy(context.engine.pool());
    change(name, current);
  }
  if (is_sign(name)) look(name, current);
  return current;
}

void RunBatch::change(const TapName& name, const Tensor& value) const {
  const Shape& shape = value.shape();
  SequenceRows rows{.name = name,
                    .heads = shape.rank() == 3 ? shape[1] : 1,
                    .channels = shape[shape.rank() - 1],
                    .has_heads = shape.rank() == 3,
                    .sequence = chunk_};
  for (size_t s = 0; s < members_.size(); ++s) {
    if (!is_changed(members_[s], name)) continue;
    rows.first = value.data<float>() + sequences_.starts()[s] * rows.heads * rows.channels;
    rows.length = sequences_.length(static_cast<int64_t>(s));
    for (const Intervention& each : *members_[s].changes)
      if (each.tap.matches(name)) change_rows(each, rows);
  }
}

void RunBatch::look(const TapName& name, const Tensor& value) const {
  const int64_t width = value.count() / std::max<int64_t>(sequences_.tokens(), 1);
  for (size_t s = 0; s < members_.size(); ++s) {
    if (members_[s].signs == nullptr) continue;
    const auto elements = value.values<float>().subspan(
        static_cast<size_t>(sequences_.starts()[s] * width),
        static_cast<size_t>(sequences_.length(static_cast<int64_t>(s)) * width));
    const auto layer = static_cast<size_t>(name.layer);
    if (name.point == points::kSink) {
      members_[s].signs->sink[layer] =
          std::accumulate(elements.begin(), elements.end(), 0.0) / static_cast<double>(elements.size());
    } else {
      float largest = 0;
      for (const float element : elements) largest = std::max(largest, std::abs(element));
      members_[s].signs->activation[layer] = largest;
    }
  }
}

}  // namespace sluice
