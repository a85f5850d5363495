// What each kind of change makes of the rows of one sequence.
// Shapes: T tokens, H heads, C channels of each. A value without heads has one. Where a value has experts,
// they stand in the place of heads, or of channels if there is one value for each; elsewhere all are meant.
#include <cmath>

#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"
#include "sluice/base/random.h"
#include "sluice/probe/calibration.h"
#include "sluice/probe/intervention.h"

namespace sluice {
namespace {

std::vector<int64_t> chosen(const IndexSet& set, int64_t count) {
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < count; ++i) {
    if (set.contains(i)) indices.push_back(i);
  }
  return indices;
}

// What an intervention touches of a sequence.
struct ChosenPart {
  const SequenceRows& rows;
  std::vector<int64_t> tokens;    // rows of it
  std::vector<int64_t> elements;  // of each row, as offsets into it

  ChosenPart(const Intervention& intervention, const SequenceRows& all) : rows(all) {
    for (int64_t row = 0; row < all.length; ++row) {
      if (intervention.positions.contains(all.past + row)) tokens.push_back(row);
    }
    const std::vector<int64_t> picked = chosen(intervention.channels, all.channels);
    for (const int64_t head : chosen(intervention.heads, all.heads)) {
      for (const int64_t channel : picked) {
        const int64_t expert = all.has_heads ? head : channel;
        if (intervention.experts.contains(expert)) elements.push_back(head * all.channels + channel);
      }
    }
  }

  float* row(int64_t token) const { return rows.first + token * rows.heads * rows.channels; }

  // turn(token, element, value) → value
  template <class Turn>
  void change_each(const Turn& turn) const {
    for (const int64_t token : tokens) {
      float* values = row(token);
      for (const int64_t element : elements) values[element] = turn(token, element, values[element]);
    }
  }
};

const CalibratedTap& calibrated_tap(const Intervention& intervention, const SequenceRows& rows) {
  SLUICE_ASSERT(intervention.calibration != nullptr, "intervene: {} without a calibration", rows.name.text());
  const CalibratedTap* tap = intervention.calibration->find(rows.name);
  SLUICE_ASSERT(tap != nullptr && tap->heads == rows.heads && tap->channels == rows.channels,
                "intervene: {} is not what was calibrated", rows.name.text());
  return *tap;
}

void put_means(const Intervention& intervention, const ChosenPart& part) {
  const CalibratedTap& tap = calibrated_tap(intervention, part.rows);
  std::vector<float> means(static_cast<size_t>(tap.heads * tap.channels));
  for (const int64_t element : part.elements) {
    double mean = 0.0;
    switch (intervention.change) {
      case Change::HeadMean:
        mean = tap.head_mean(element / tap.channels);
        break;
      case Change::LayerMean:
        mean = tap.layer_mean();
        break;
      case Change::OverallMean:
        mean = intervention.calibration->overall_mean(part.rows.name.point);
        break;
      default:
        mean = tap.mean(element);
    }
    means[static_cast<size_t>(element)] = static_cast<float>(mean);
  }
  part.change_each([&](int64_t, int64_t element, float) { return means[static_cast<size_t>(element)]; });
}

// No factor changes a mean of zero.
void raise_levels(const Intervention& intervention, const ChosenPart& part) {
  const CalibratedTap& tap = calibrated_tap(intervention, part.rows);
  std::vector<float> factors(static_cast<size_t>(tap.heads * tap.channels));
  for (const int64_t element : part.elements) {
    const double mean =
        intervention.change == Change::Level ? tap.mean(element) : tap.head_mean(element / tap.channels);
    const auto factor = static_cast<float>(intervention.amount / mean);
    if (!std::isfinite(factor))
      throw usage_error(
          {.where = fmt::format("intervention at {}", part.rows.name.text()),
           .what = "no factor gives a value whose mean over the calibration text is 0 that level",
           .expected = "values above 0, such as a gate's"});
    factors[static_cast<size_t>(element)] = factor;
  }
  part.change_each(
      [&](int64_t, int64_t element, float x) { return x * factors[static_cast<size_t>(element)]; });
}

Random draws_of(const Intervention& intervention, const TapName& name) {
  return Random(intervention.seed).child(static_cast<uint64_t>(name.layer + 1));
}

void put_donor(const Intervention& intervention, const ChosenPart& part) {
  const CalibratedTap& tap = calibrated_tap(intervention, part.rows);
  SLUICE_ASSERT(!tap.donors.empty(), "intervene: no donor for {}", part.rows.name.text());
  const Random random = draws_of(intervention, part.rows.name);
  const Tensor& donor =
      tap.donors[random.below(static_cast<uint64_t>(part.rows.sequence), tap.donors.size())];
  const int64_t positions = part.rows.past + part.rows.length;
  if (donor.shape()[0] < positions) {
    throw usage_error({.where = "calibration text",
                       .what = "its sequences are too short for a shuffle",
                       .expected = fmt::format("at least {} tokens", positions),
                       .got = std::to_string(donor.shape()[0])});
  }
  const int64_t width = tap.heads * tap.channels;
  part.change_each([&](int64_t token, int64_t element, float) {
    return donor.data<float>()[(part.rows.past + token) * width + element];
  });
}

// Taps of one layer get noise of their own.
void add_noise(const Intervention& intervention, const ChosenPart& part) {
  const SequenceRows& rows = part.rows;
  const Random random = draws_of(intervention, rows.name)
                            .child(crc32c(rows.name.point))
                            .child(static_cast<uint64_t>(rows.sequence));
  const int64_t width = rows.heads * rows.channels;
  std::vector<double> noise(part.elements.size());
  for (const int64_t token : part.tokens) {
    float* values = part.row(token);
    double of_value = 0, of_noise = 0;
    for (size_t i = 0; i < noise.size(); ++i) {
      const int64_t element = part.elements[i];
      noise[i] = random.normal(static_cast<uint64_t>((rows.past + token) * width + element));
      of_noise += noise[i] * noise[i];
      of_value += static_cast<double>(values[element]) * values[element];
    }
    if (of_noise == 0) continue;
    const double size = intervention.amount * std::sqrt(of_value / of_noise);
    for (size_t i = 0; i < noise.size(); ++i) {
      float& value = values[part.elements[i]];
      value = static_cast<float>(value + size * noise[i]);
    }
  }
}

}  // namespace

bool change_rows(const Intervention& intervention, const SequenceRows& rows) {
  const ChosenPart part(intervention, rows);
  if (part.tokens.empty()) return false;
  const auto amount = static_cast<float>(intervention.amount);
  switch (intervention.change) {
    case Change::Set:
      part.change_each([&](int64_t, int64_t, float) { return amount; });
      break;
    case Change::Scale:
      part.change_each([&](int64_t, int64_t, float x) { return x * amount; });
      break;
    case Change::Shift:
      part.change_each([&](int64_t, int64_t, float x) { return x + amount; });
      break;
    case Change::Invert:
      part.change_each([](int64_t, int64_t, float x) { return 1.0F - x; });
      break;
    case Change::Mean:
    case Change::HeadMean:
    case Change::LayerMean:
    case Change::OverallMean:
      put_means(intervention, part);
      break;
    case Change::Level:
    case Change::HeadLevel:
      raise_levels(intervention, part);
      break;
    case Change::Shuffle:
      put_donor(intervention, part);
      break;
    case Change::Noise:
      add_noise(intervention, part);
      break;
  }
  return true;
}

}  // namespace sluice
