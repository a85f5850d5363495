#include "sluice/analysis/view_lens.h"

#include <fmt/format.h>

#include <limits>

#include "sluice/base/error.h"

namespace sluice {
namespace {

void check_positions(Range positions, int64_t length) {
  if (positions.begin >= 0 && positions.begin < positions.end && positions.end <= length) return;
  throw usage_error({.where = "first, last",
                     .expected = fmt::format("positions from 0 to {}, in order", length - 1),
                     .got = fmt::format("{}, {}", positions.begin, positions.end - 1)});
}

// Adds what a layer predicts behind some of the positions.
void add_rows(ViewLensLayer& lens, const Tensor& predicted, Range rows, const PromptView& view,
              size_t count) {
  for (int64_t i = 0; i < rows.size(); ++i) {
    const std::span<const float> row(predicted.data<float>() + i * predicted.cols(),
                                     static_cast<size_t>(predicted.cols()));
    lens.top.push_back(likeliest(row, count));
    const auto next = static_cast<size_t>(rows.begin + i + 1);
    lens.surprise.push_back(next < view.ids.size() ? -row[static_cast<size_t>(view.ids[next])]
                                                   : std::numeric_limits<float>::quiet_NaN());
  }
}

double agreement_of(const ViewLensLayer& a, const ViewLensLayer& b) {
  size_t equal = 0;
  for (size_t i = 0; i < a.top.size(); ++i) equal += a.top[i].front().id == b.top[i].front().id ? 1 : 0;
  return static_cast<double>(equal) / static_cast<double>(a.top.size());
}

}  // namespace

std::vector<ViewLensLayer> view_lens(const LoadedModel& model, const PromptView& view,
                                     const ViewLensRequest& request, const JobControl& control) {
  check_positions(request.positions, view.length());
  SLUICE_ASSERT(request.count > 0, "view_lens: no tokens are asked for");
  std::vector<ViewLensLayer> layers;
  for (int64_t layer = 0; layer < model.decoder().layers(); ++layer) {
    ViewLensLayer& lens = layers.emplace_back();
    lens.layer = layer;
    for (Range rows{request.positions.begin, 0}; rows.begin < request.positions.end; rows.begin = rows.end) {
      control.stop_if_cancelled();
      rows.end = std::min(rows.begin + ViewPredictions::kRows, request.positions.end);
      const Tensor& stream = view.streams[static_cast<size_t>(layer + 1)];
      add_rows(lens, lens_log_probabilities(model, stream, rows, request.packing), rows, view, request.count);
    }
    control.report("lens", layer + 1, model.decoder().layers());
  }
  for (ViewLensLayer& lens : layers) lens.agreement = agreement_of(lens, layers.back());
  return layers;
}

}  // namespace sluice
