#include "sluice/report/report_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

constexpr size_t kLongestStem = 120;  // bytes; most file systems take 255, with ending and number

// Not std::isalnum: that depends on the user's language.
bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// Hands out each name once.
class UniqueNames {
 public:
  std::string take(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 2; !taken_.insert(lower_case(name)).second; ++i) name = fmt::format("{}-{}", wanted, i);
    return name;
  }

 private:
  std::set<std::string> taken_;
};

std::string anchor_of(const std::string& text) {
  std::string anchor;
  for (const char c : lower_case(text)) {
    if (is_letter_or_digit(c)) {
      anchor += c;
    } else if (!anchor.empty() && anchor.back() != '-') {
      anchor += '-';
    }
  }
  while (anchor.ends_with('-')) anchor.pop_back();
  return anchor.empty() ? "section" : anchor;
}

using VisitBlock = std::function<void(ReportBlock&)>;

void visit_sections(std::vector<Section>& sections, const std::function<void(Section&)>& visit) {
  for (Section& section : sections) {
    visit(section);
    visit_sections(section.subsections, visit);
  }
}

void visit_blocks(Report& report, const VisitBlock& visit) {
  std::ranges::for_each(report.summary, visit);
  visit_sections(report.sections, [&](Section& section) { std::ranges::for_each(section.blocks, visit); });
}

// What each name that a figure may refer to has become; of two tables that were called alike, the first.
std::map<std::string, std::string> name_tables(Report& report) {
  std::map<std::string, std::string> renamed;
  UniqueNames names;
  visit_blocks(report, [&](ReportBlock& block) {
    auto* table = std::get_if<Table>(&block);
    if (table == nullptr) return;
    const std::string name = names.take(safe_file_stem(table->name));
    renamed.emplace(table->name, name);
    table->name = name;
  });
  return renamed;
}

void name_figures(Report& report, const std::map<std::string, std::string>& tables) {
  UniqueNames names;
  visit_blocks(report, [&](ReportBlock& block) {
    auto* figure = std::get_if<ReportFigure>(&block);
    if (figure == nullptr) return;
    figure->stem = names.take(safe_file_stem(figure->stem));
    if (figure->table.empty()) return;
    const auto found = tables.find(figure->table);
    SLUICE_ASSERT(found != tables.end(), "report: figure {} has its numbers in {}, which is not there",
                  figure->stem, figure->table);
    figure->table = found->second;
  });
}

}  // namespace

std::string safe_file_stem(std::string_view text) {
  std::string stem;
  for (const char c : text.substr(0, kLongestStem)) {
    const bool is_safe =
        is_letter_or_digit(c) || std::string_view("._-+=,").find(c) != std::string_view::npos;
    stem += is_safe ? c : '_';
  }
  stem.erase(0, std::min(stem.find_first_not_of(".-"), stem.size()));
  return stem.empty() ? "unnamed" : stem;
}

Report with_unique_names(Report report) {
  name_figures(report, name_tables(report));
  UniqueNames anchors;
  // The page gives these to its tables and figures.
  for (const Table* table : tables_of(report)) anchors.take("table-" + table->name);
  for (const ReportFigure* figure : figures_of(report)) anchors.take("figure-" + figure->stem);
  visit_sections(report.sections, [&](Section& section) {
    section.anchor = anchors.take(anchor_of(section.anchor.empty() ? section.title : section.anchor));
  });
  return report;
}

}  // namespace sluice
