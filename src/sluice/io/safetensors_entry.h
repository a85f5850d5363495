// The entries of a safetensors header, each checked by itself. Only safetensors_header.cpp includes this; how
// entries lie beside each other is checked there.
#pragma once

#include <cstddef>
#include <string>

#include "sluice/base/json.h"
#include "sluice/io/safetensors_header.h"

namespace sluice {

// Offsets count from the first byte of data, of which the file has `data_bytes`.
SafetensorsHeader read_entries(const Json& json, size_t data_bytes, const std::string& file_name);

}  // namespace sluice
