// SHA-256 (FIPS 180-4), for what others check by it: the policy of a page names its script so.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

using Sha256 = std::array<uint8_t, 32>;

Sha256 sha256(std::string_view bytes);

// RFC 4648, with its padding.
std::string base64_of(std::span<const uint8_t> bytes);

}  // namespace sluice
