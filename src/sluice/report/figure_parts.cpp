#include "sluice/report/figure_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/plot/token_text.h"

namespace sluice {

std::string counted(const StudiedModel& model) {
  const Look& look = model.look;
  return fmt::format("{}: {} tokens in {} sequences of {}.", model.name, look.tokens, look.sequences,
                     look.length);
}

std::string counted(const StudiedModel& model, const GateMeasure& gate) {
  return fmt::format("Gate {} of {}", gate.position, counted(model));
}

std::string named_for(const StudiedModel& model, const char* what) {
  return fmt::format("{}_{}", model.name, what);
}

std::string named_for(const StudiedModel& model, const GateMeasure& gate, const char* what) {
  if (gate.position == GatePosition::G1->name) return named_for(model, what);
  return fmt::format("{}_{}_{}", model.name, gate.position, what);
}

BinnedCounts bins_of(const Distribution& values) {
  constexpr size_t kBins = 50;
  BinnedCounts bins;
  const double low = std::min(0.0, values.lowest()), high = std::max(1.0, values.highest());
  for (size_t i = 0; i <= kBins; ++i)
    bins.edges.push_back(low + (high - low) * static_cast<double>(i) / static_cast<double>(kBins));
  bins.counts = values.histogram(low, high, kBins);
  return bins;
}

BoxSummary box_of(const Distribution& values) {
  return {.low = values.quantile(0.05),
          .lower = values.quantile(0.25),
          .median = values.quantile(0.5),
          .upper = values.quantile(0.75),
          .high = values.quantile(0.95),
          .mean = values.moments().mean()};
}

std::vector<std::string> token_names(const PromptMap& map) {
  std::vector<std::string> names;
  for (const std::string& token : map.tokens) names.push_back(token_text(token));
  if (!names.empty()) return names;
  for (const TokenId id : map.ids) names.push_back(std::to_string(id));
  return names;
}

Panel panel_of(LineChart chart, double width, double height) {
  std::string title = chart.title;
  return {.width = width,
          .height = height,
          .title = std::move(title),
          .draw = [chart = std::move(chart)](Canvas& canvas, const Box& box) {
            draw_line_chart(canvas, box, chart);
          }};
}

}  // namespace sluice
