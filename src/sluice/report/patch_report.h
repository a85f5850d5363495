// What patching between two prompts found, as a report: maps by layer and position and by layer and head.
#pragma once

#include "sluice/probe/patch.h"
#include "sluice/report/report.h"

namespace sluice {

Report patch_report(const PatchResult& result, ReportHeader header);

}  // namespace sluice
