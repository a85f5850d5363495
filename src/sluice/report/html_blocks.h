// The blocks of a report as HTML. All text is escaped here; names are safe already (report_names.h).
#pragma once

#include <string>

#include "sluice/report/report.h"

namespace sluice {

// `figures` counts the drawings of a page: the ids inside a drawing are only unique within it.
std::string block_html(const ReportBlock& block, int& figures);

std::string table_html(const Table& table);

}  // namespace sluice
