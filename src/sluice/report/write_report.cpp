#include "sluice/report/write_report.h"

#include <nlohmann/json.hpp>

#include "sluice/base/atomic_file.h"
#include "sluice/base/file_system.h"
#include "sluice/base/json_text.h"
#include "sluice/report/html.h"
#include "sluice/report/markdown.h"
#include "sluice/report/report_names.h"

namespace sluice {

namespace {

void make_directory_for(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw system_failure(directory, "cannot create", error);
}

}  // namespace

void write_report(const Report& report, const std::filesystem::path& directory) {
  const Report named = with_unique_names(report);
  make_directory_for(directory);
  for (const Table* table : tables_of(named))
    write_file_atomically(directory / (table->name + ".csv"), csv_of(*table));
  for (const ReportFigure* figure : figures_of(named))
    for (const char* ending : {".svg", ".png"})
      write_figure(directory / (figure->stem + ending), figure->figure);
  write_file_atomically(directory / "report.json", pretty_text(to_json(named)));
  write_file_atomically(directory / "report.md", markdown_of(named));
  write_file_atomically(directory / "report.html", html_of(named));
}

void write_result(const nlohmann::ordered_json& result, const std::filesystem::path& directory) {
  make_directory_for(directory);
  write_file_atomically(directory / "result.json", pretty_text(result));
}

}  // namespace sluice
