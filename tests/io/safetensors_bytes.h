// Safetensors files put together by hand, right or wrong.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "sluice/io/safetensors_header.h"

namespace sluice {

// `length` as the file claims it, then the header, then the data.
inline std::string safetensors_bytes(uint64_t length, std::string_view header, std::string_view data) {
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  return file.append(header).append(data);
}

inline std::string safetensors_bytes(std::string_view header, std::string_view data) {
  return safetensors_bytes(header.size(), header, data);
}

inline SafetensorsHeader parse_header(std::string_view file) {
  // A copy on the heap, so that the address sanitizer sees a read beyond its end.
  const std::string copy(file);
  return parse_safetensors_header(std::as_bytes(std::span(copy)), "m");
}

}  // namespace sluice
