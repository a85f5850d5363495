#include <fmt/format.h>

#include <algorithm>

#include "sluice/plot/panels.h"
#include "sluice/report/figure_parts.h"
#include "sluice/report/nursery_findings.h"
#include "sluice/report/nursery_report.h"

namespace sluice {
namespace {

HeatMap sink_map(const StudiedModel& model) {
  const auto& layers = model.look.attention;
  HeatMap map = head_map(layers, layers.front().by_head.size(),
                         [](const AttentionLayer& layer, size_t h) { return layer.by_head[h].key.mean(); });
  for (size_t h = 0; h < map.columns; ++h) map.x.names.push_back(std::to_string(h));
  map.title = short_name(model.name);
  map.color = {.label = "attention on the first token", .extent = kUnitExtent};
  return map;
}

HeatMap document_map(const StudiedModel& model) {
  const StrongestHead strongest = strongest_head(model.look.attention);
  const auto kept = std::ranges::find_if(model.prompt.maps, [&](const AttentionMap& map) {
    return map.layer == strongest.layer && map.head == strongest.head;
  });
  const size_t tokens = model.prompt.ids.size();
  HeatMap map{
      .title = fmt::format("{}: layer {}, head {}", short_name(model.name), strongest.layer, strongest.head),
      .rows = tokens,
      .columns = tokens,
      .values = {kept->values.begin(), kept->values.end()},
      .x = {.label = "key"},
      .y = {.label = "query"},
      .color = {.label = "probability", .extent = kUnitExtent},
      .numbers = CellNumbers::None,
      .shape = CellShape::Square};
  for (size_t q = 0; q < tokens; ++q)
    for (size_t k = q + 1; k < tokens; ++k) map.values[q * tokens + k] = kNoValue;
  return map;
}

template <class MapOf>
Figure side_by_side(const NurseryResult& result, const std::string& caption, MapOf map_of) {
  std::vector<HeatMap> maps;
  for (const StudiedModel& model : result.looked.study.models) maps.push_back(map_of(model));
  Panels panels{.columns = 2, .color = share_colors(maps), .caption = {caption}};
  for (HeatMap& map : maps) panels.panels.push_back(panel_of(std::move(map)));
  return figure_of(std::move(panels));
}

}  // namespace

ReportFigure nursery_sink_figure(const NurseryResult& result) {
  const Look& look = result.studied(0).look;
  const std::string counted =
      fmt::format("n = {} held-out sequences of {} tokens; uniform attention: {:.3f}.", look.sequences,
                  look.length, look.key_floor);
  return {.stem = fmt::format("{}-sink", result.pair.stem),
          .figure = side_by_side(result, counted, sink_map),
          .caption = "How much of its attention each head puts on the first token.",
          .table = nursery_heads(result).name};
}

ReportFigure nursery_map_figure(const NurseryResult& result) {
  std::string heads;
  for (const StudiedModel& model : result.looked.study.models)
    heads += fmt::format("{}{} {:.3f}", heads.empty() ? "" : ", ", short_name(model.name),
                         strongest_head(model.look.attention).sink);
  return {
      .stem = fmt::format("{}-attention", result.pair.stem),
      .figure = side_by_side(
          result,
          fmt::format("The first {} tokens of one held-out document; one model of each, seed {}.",
                      result.studied(0).prompt.ids.size(), result.models.front().seed),
          document_map),
      .caption = fmt::format(
          "Where the head with the strongest sink of each model looks in one document (its mean on the first "
          "token over all sequences: {}). A filled first column is a sink; what lies one step beside "
          "the diagonal looks at the letter before, as copying does.",
          heads)};
}

}  // namespace sluice
