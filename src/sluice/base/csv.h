// Tables of comma-separated values, as RFC 4180 has them.
#pragma once

#include <string>

namespace sluice {

// In quotes if it needs them.
inline std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace sluice
