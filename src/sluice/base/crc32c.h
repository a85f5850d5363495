// CRC-32C (Castagnoli): the checksum of TFRecord files. Shards use zlib's CRC-32, another polynomial.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice {

uint32_t crc32c(std::string_view bytes);

}  // namespace sluice
