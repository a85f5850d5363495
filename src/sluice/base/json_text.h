// JSON as files and commands have it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sluice {

// Indented by two, with a line break at the end. Ill-formed UTF-8, which paths may have, is replaced.
inline std::string pretty_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace sluice
