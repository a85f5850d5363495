// The report's tree as JSON.
#include <nlohmann/json.hpp>

#include "sluice/base/json_text.h"
#include "sluice/report/report.h"
#include "sluice/report/report_names.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

struct CellJson {
  ordered_json operator()(Missing) const { return nullptr; }
  ordered_json operator()(const std::string& text) const { return text; }
  ordered_json operator()(int64_t value) const { return value; }
  ordered_json operator()(double value) const { return finite_or_null(value); }
  ordered_json operator()(const Estimate& estimate) const {
    if (!estimate.ci95) return finite_or_null(estimate.value);
    return {{"value", finite_or_null(estimate.value)},
            {"interval", {finite_or_null(estimate.ci95->low), finite_or_null(estimate.ci95->high)}}};
  }
};

ordered_json column_json(const TableColumn& column) {
  ordered_json json = {{"key", column.key.empty() ? column.name : column.key}, {"name", column.name}};
  if (!column.unit.empty()) json["unit"] = column.unit;
  if (!column.note.empty()) json["note"] = column.note;
  return json;
}

struct BlockJson {
  ordered_json operator()(const Paragraph& block) const { return {{"kind", "text"}, {"text", block.text}}; }
  ordered_json operator()(const BulletList& block) const {
    return {{"kind", "list"}, {"items", block.items}};
  }
  ordered_json operator()(const Note& block) const { return {{"kind", "note"}, {"text", block.text}}; }

  ordered_json operator()(const Finding& block) const {
    return {{"kind", "finding"}, {"verdict", name_of(block.verdict)}, {"text", block.text}};
  }

  ordered_json operator()(const Preformatted& block) const {
    return {{"kind", "preformatted"}, {"label", block.label}, {"text", block.text}};
  }

  ordered_json operator()(const Table& table) const {
    ordered_json columns = ordered_json::array(), rows = ordered_json::array();
    for (const TableColumn& column : table.columns) columns.push_back(column_json(column));
    for (const auto& row : table.rows) {
      ordered_json cells = ordered_json::array();
      for (const TableCell& cell : row) cells.push_back(std::visit(CellJson{}, cell));
      rows.push_back(std::move(cells));
    }
    return {{"kind", "table"},
            {"file", table.name + ".csv"},
            {"caption", table.caption},
            {"columns", columns},
            {"rows", rows}};
  }

  ordered_json operator()(const ReportFigure& figure) const {
    ordered_json json = {{"kind", "figure"},
                         {"files", {figure.stem + ".svg", figure.stem + ".png"}},
                         {"title", figure.figure.title},
                         {"caption", figure.caption}};
    if (!figure.table.empty()) json["numbers"] = figure.table + ".csv";
    return json;
  }
};

ordered_json blocks_json(const std::vector<ReportBlock>& blocks) {
  ordered_json json = ordered_json::array();
  for (const ReportBlock& block : blocks) json.push_back(std::visit(BlockJson{}, block));
  return json;
}

ordered_json sections_json(const std::vector<Section>& sections) {
  ordered_json json = ordered_json::array();
  for (const Section& section : sections)
    json.push_back({{"title", section.title},
                    {"anchor", section.anchor},
                    {"blocks", blocks_json(section.blocks)},
                    {"sections", sections_json(section.subsections)}});
  return json;
}

ordered_json header_json(const ReportHeader& header) {
  ordered_json sources = ordered_json::array();
  for (const ReportSource& source : header.sources)
    sources.push_back({{"role", source.role}, {"name", source.name}, {"checksum", source.checksum}});
  return {{"command", header.command},
          {"version", header.version},
          {"sources", sources},
          {"machine", header.machine},
          {"timing",
           {{"time", header.time}, {"seconds", header.seconds ? ordered_json(*header.seconds) : nullptr}}}};
}

}  // namespace

ordered_json to_json(const Report& report) {
  const Report named = with_unique_names(report);
  return {{"title", named.title},
          {"header", header_json(named.header)},
          {"summary", blocks_json(named.summary)},
          {"sections", sections_json(named.sections)}};
}

}  // namespace sluice
