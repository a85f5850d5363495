#include "sluice/report/report.h"

namespace sluice {
namespace {

template <class Kind>
void collect(const std::vector<ReportBlock>& blocks, std::vector<const Kind*>& found) {
  for (const ReportBlock& block : blocks)
    if (const auto* each = std::get_if<Kind>(&block)) found.push_back(each);
}

template <class Kind>
void collect(const std::vector<Section>& sections, std::vector<const Kind*>& found) {
  for (const Section& section : sections) {
    collect(section.blocks, found);
    collect(section.subsections, found);
  }
}

template <class Kind>
std::vector<const Kind*> all_of_kind(const Report& report) {
  std::vector<const Kind*> found;
  collect(report.summary, found);
  collect(report.sections, found);
  return found;
}

}  // namespace

Finding finding_of(const Difference& difference) {
  return {.verdict = verdict_of(difference), .text = sentence_of(difference)};
}

std::vector<const Table*> tables_of(const Report& report) {
  return all_of_kind<Table>(report);
}

std::vector<const ReportFigure*> figures_of(const Report& report) {
  return all_of_kind<ReportFigure>(report);
}

}  // namespace sluice
