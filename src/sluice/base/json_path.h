// How JSON paths, keys and values are spelt in messages: model.layers[2]["odd key"].
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

std::string member_path(std::string_view parent, std::string_view key);
std::string element_path(std::string_view parent, std::size_t index);

// "file: path", or the file alone for the whole document.
std::string json_location(std::string_view source, std::string_view path);

// Quoted as JSON, shortened to about 40 characters.
std::string in_quotes(std::string_view text);

// A value for the "got" part of an error; containers by their kind and size.
std::string described(const nlohmann::json& value);

}  // namespace sluice
