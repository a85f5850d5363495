#include "sluice/train/metrics_line.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "sluice/text/lines.h"

namespace sluice {

MetricsLine metrics_line(const nlohmann::ordered_json& object) {
  MetricsLine read{.kind = object.contains("validation_loss") ? MetricsKind::Validation : MetricsKind::Step,
                   .step = object.at("step").get<int64_t>(),
                   .figures = {}};
  for (const auto& [name, value] : object.items()) {
    if (name == "step" || !(value.is_number() || value.is_null())) continue;
    if (value.is_null()) {
      read.figures.push_back({.name = name, .text = "", .value = std::numeric_limits<double>::quiet_NaN()});
    } else {
      read.figures.push_back({.name = name, .text = value.dump(), .value = value.get<double>()});
    }
  }
  return read;
}

std::vector<MetricsLine> read_metrics_lines(std::string_view text) {
  std::vector<MetricsLine> lines;
  for_each_line(text, 1, [&](size_t, std::string_view line) {
    lines.push_back(metrics_line(nlohmann::ordered_json::parse(line)));
  });
  return lines;
}

}  // namespace sluice
