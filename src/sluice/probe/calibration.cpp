#include "sluice/probe/calibration.h"

#include <algorithm>
#include <numeric>

#include "sluice/base/error.h"

namespace sluice {

double CalibratedTap::mean(int64_t element) const {
  return sums[static_cast<size_t>(element)] / static_cast<double>(tokens);
}

double CalibratedTap::head_mean(int64_t head) const {
  const auto first = sums.begin() + head * channels;
  return std::accumulate(first, first + channels, 0.0) / static_cast<double>(tokens * channels);
}

double CalibratedTap::layer_mean() const {
  return std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(tokens * heads * channels);
}

const CalibratedTap* Calibration::find(const TapName& name) const {
  const auto found = taps_.find({name.layer, std::string(name.point)});
  return found == taps_.end() ? nullptr : &found->second;
}

double Calibration::overall_mean(std::string_view point) const {
  double sum = 0, count = 0;
  for (const auto& [place, tap] : taps_) {
    if (place.second != point) continue;
    sum += std::accumulate(tap.sums.begin(), tap.sums.end(), 0.0);
    count += static_cast<double>(tap.tokens * tap.heads * tap.channels);
  }
  return sum / count;
}

// Looks and changes nothing.
class CalibrationCollector : public Probe {
 public:
  CalibrationCollector(const CalibrationRequest& request, int64_t layers)
      : request_(request), layers_(layers) {}

  bool wants(const TapName& name) const override { return needs(name, &Intervention::needs_calibration); }

  Tensor visit(const Context& context, const TapName& name, const Tensor& value) override {
    CalibratedTap& tap = result_.taps_[{name.layer, std::string(name.point)}];
    const Shape& shape = value.shape();
    tap.heads = shape.rank() == 3 ? shape[1] : 1;
    tap.channels = shape[shape.rank() - 1];
    tap.tokens += shape[0];
    const int64_t width = tap.heads * tap.channels;
    tap.sums.resize(static_cast<size_t>(width));
    const float* element = value.data<float>();
    for (int64_t row = 0; row < shape[0]; ++row)
      for (double& sum : tap.sums) sum += *element++;
    if (has_room(tap, value) && needs(name, &Intervention::needs_donors))
      tap.donors.push_back(value.copy(context.engine.pool()).reshaped({shape[0], tap.heads, tap.channels}));
    return value;
  }

  void end_sequence(int64_t tokens) {
    ++result_.sequences_;
    result_.tokens_ += tokens;
  }

  Calibration take() { return std::move(result_); }

 private:
  bool has_room(const CalibratedTap& tap, const Tensor& next) const {
    const int64_t kept = std::ssize(tap.donors);
    const int64_t of_each = layers_ * next.count() * static_cast<int64_t>(sizeof(float));
    return kept == 0 || (kept < request_.donors && (kept + 1) * of_each <= request_.donor_bytes);
  }

  bool needs(const TapName& name, bool (Intervention::*kind)() const) const {
    return std::ranges::any_of(request_.interventions, [&](const Intervention& each) {
      return (each.*kind)() && each.takes_from(name);
    });
  }

  const CalibrationRequest& request_;
  int64_t layers_;
  Calibration result_;
};

std::shared_ptr<const Calibration> calibrate(const Context& context, const Decoder& decoder,
                                             const CalibrationRequest& request, const JobControl& control) {
  if (request.sequences.empty()) throw usage_error({.what = "there is no calibration text"});
  CalibrationCollector collector(request, decoder.layers());
  const Context probed = context.with_probe(&collector);
  int64_t done = 0;
  for (const std::vector<TokenId>& ids : request.sequences) {
    control.stop_if_cancelled();
    control.report("calibration sequences", done++, std::ssize(request.sequences));
    const Var hidden = decoder.forward(probed, ids).y;
    if (is_probed(probed, {TapName::kNoLayer, points::kLogits})) decoder.logits(probed, hidden);
    collector.end_sequence(std::ssize(ids));
  }
  control.report("calibration sequences", done, done);
  return std::make_shared<const Calibration>(collector.take());
}

void give_calibration(std::span<Intervention> interventions,
                      const std::shared_ptr<const Calibration>& calibration) {
  for (Intervention& each : interventions)
    if (each.needs_calibration()) each.calibration = calibration;
}

}  // namespace sluice
