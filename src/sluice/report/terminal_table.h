// A table for a terminal: columns as wide as they need to be, the first one left-aligned.
#pragma once

#include <string>

#include "sluice/report/table.h"

namespace sluice {

// Numbers are written without commas: they are copied into other programs. What is missing is "-".
std::string terminal_table(const Table& table);

}  // namespace sluice
