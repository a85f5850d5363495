// Unpacking gzip files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

bool is_gzip(std::string_view bytes);

// All members of the file, one after the other. Bad input, named `where`, if it is damaged or cut off or if
// more than max_bytes come out.
std::string gunzip(std::string_view bytes, const std::string& where, size_t max_bytes);

}  // namespace sluice
