#include "sluice/report/study_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {

std::string interval_words(const Estimate& figure) {
  if (!figure.ci95) return number_text(figure.value) + " (one sequence: no interval)";
  return number_text(figure);
}

bool any_gates(const Study& study) {
  return std::ranges::any_of(study.models,
                             [](const StudiedModel& model) { return !model.look.gates.empty(); });
}

int64_t gated_outputs(const Study& study) {
  return std::ranges::count_if(study.models,
                               [](const StudiedModel& model) { return !model.look.relations.empty(); });
}

Report begun_report(const char* title, const Study& study, ReportHeader header) {
  const Look& look = study.models.front().look;
  header.sources.push_back(
      {.role = "tokens",
       .name = fmt::format("{} in {} sequences", integer_text(look.tokens), look.sequences),
       .checksum = fmt::format("crc32c {:08x}", look.text_checksum)});
  Report report{.title = title, .header = std::move(header)};
  for (const std::string& change : study.interventions)
    report.summary.push_back(Note{fmt::format("Looked at while {} was applied.", change)});
  return report;
}

}  // namespace sluice
