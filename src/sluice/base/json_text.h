// JSON as files and commands have it.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

namespace sluice {

// Indented by two, with a line break at the end. Ill-formed UTF-8, which paths may have, is replaced.
inline std::string pretty_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// On one line, for whoever reads it by program.
inline std::string compact_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// The number with the fewest digits that gives the same f32 again: 0.3 and not 0.30000001192092896. What is
// not finite becomes null in JSON.
inline double shortest_number(float value) {
  return std::strtod(fmt::format("{}", value).c_str(), nullptr);
}

// JSON has no NaN and no infinity.
inline nlohmann::ordered_json finite_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

// The same with the digits that f32 has.
inline nlohmann::ordered_json shortest_or_null(double value) {
  return finite_or_null(shortest_number(static_cast<float>(value)));
}

}  // namespace sluice
