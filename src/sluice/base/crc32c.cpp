#include "sluice/base/crc32c.h"

#include <array>

namespace sluice {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // 0x1edc6f41 with its bits reversed: the lowest bit goes first

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? kPolynomial : 0);
    table[byte] = rest;
  }
  return table;
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = make_table();
  uint32_t rest = ~uint32_t{0};
  for (const char byte : bytes) rest = (rest >> 8) ^ kTable[(rest ^ static_cast<uint8_t>(byte)) & 0xff];
  return ~rest;
}

}  // namespace sluice
