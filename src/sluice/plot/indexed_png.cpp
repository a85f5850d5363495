#include "sluice/plot/indexed_png.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

constexpr size_t kShortestMatch = 3, kLongestMatch = 258, kFarthestMatch = 32768;  // of RFC 1951

void append_big_endian(uint32_t value, std::string& out) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
}

const Bytef* zlib_bytes(std::string_view bytes) {
  return reinterpret_cast<const Bytef*>(bytes.data());
}

void append_chunk(const char* type, const std::string& content, std::string& out) {
  append_big_endian(static_cast<uint32_t>(content.size()), out);
  const std::string checked = type + content;
  out += checked;
  append_big_endian(static_cast<uint32_t>(crc32(0, zlib_bytes(checked), static_cast<uInt>(checked.size()))),
                    out);
}

// One block of RFC 1951 with its fixed codes.
class FixedCodeBlock {
 public:
  FixedCodeBlock() {
    bits(1, 1);  // the last block
    bits(1, 2);  // fixed codes
  }

  void literal(uint8_t byte) { symbol(byte); }

  void match(size_t length, size_t distance) {
    if (length == kLongestMatch) {
      symbol(285);
    } else {
      const Steps steps = steps_of(length - kShortestMatch, 4);
      symbol(257 + steps.code);
      bits(steps.rest, steps.rest_bits);
    }
    const Steps steps = steps_of(distance - 1, 2);
    code(steps.code, 5);
    bits(steps.rest, steps.rest_bits);
  }

  std::string finish() {
    symbol(256);
    if (used_ > 0) bits(0, 8 - used_);
    return std::move(bytes_);
  }

 private:
  // Lengths and distances share a scheme: `per_power` codes for each power of two, the rest in plain bits.
  struct Steps {
    uint32_t code, rest;
    int rest_bits;
  };
  static Steps steps_of(size_t value, size_t per_power) {
    int extra = 0;
    while (value >> extra >= 2 * per_power) ++extra;
    const size_t code = value >> extra;
    return {static_cast<uint32_t>(code + static_cast<size_t>(extra) * per_power),
            static_cast<uint32_t>(value - (code << extra)), extra};
  }

  void symbol(uint32_t value) {
    if (value < 144) return code(0x30 + value, 8);
    if (value < 256) return code(0x190 + value - 144, 9);
    if (value < 280) return code(value - 256, 7);
    code(0xc0 + value - 280, 8);
  }

  // Codes are written from their highest bit, everything else from the lowest.
  void code(uint32_t value, int count) {
    for (int i = count - 1; i >= 0; --i) bits(value >> i & 1, 1);
  }
  void bits(uint32_t value, int count) {
    for (int i = 0; i < count; ++i) {
      if (used_ == 0) bytes_ += '\0';
      bytes_.back() = static_cast<char>(bytes_.back() | (value >> i & 1) << used_);
      used_ = (used_ + 1) % 8;
    }
  }

  std::string bytes_;
  int used_ = 0;  // bits of the last byte
};

size_t match_length(std::string_view bytes, size_t at, size_t distance) {
  if (distance > at || distance > kFarthestMatch) return 0;
  size_t length = 0;
  while (length < kLongestMatch && at + length < bytes.size() &&
         bytes[at + length] == bytes[at + length - distance])
    ++length;
  return length;
}

// Looks for repetition in two places only, the pixel before and the row above: that is where maps repeat.
std::string deflated(std::string_view bytes, size_t row) {
  FixedCodeBlock block;
  for (size_t at = 0; at < bytes.size();) {
    const size_t across = match_length(bytes, at, 1), down = match_length(bytes, at, row);
    const size_t length = std::max(across, down);
    if (length >= kShortestMatch) {
      block.match(length, across >= down ? 1 : row);
      at += length;
    } else {
      block.literal(static_cast<uint8_t>(bytes[at++]));
    }
  }
  return block.finish();
}

std::string zlib_stream(const std::string& bytes, size_t row) {
  std::string stream = "\x78\x01" + deflated(bytes, row);
  append_big_endian(static_cast<uint32_t>(adler32_z(adler32(0, nullptr, 0), zlib_bytes(bytes), bytes.size())),
                    stream);
  return stream;
}

std::string header_of(const IndexedImage& image) {
  std::string header;
  append_big_endian(static_cast<uint32_t>(image.width), header);
  append_big_endian(static_cast<uint32_t>(image.height), header);
  // Eight bits each, by palette, the only compression, the only filters, rows in order.
  return header + std::string("\x08\x03\0\0\0", 5);
}

std::string rows_of(const IndexedImage& image) {
  std::string rows;
  rows.reserve(image.height * (image.width + 1));
  for (size_t y = 0; y < image.height; ++y) {
    rows += '\0';  // no filter
    rows.append(reinterpret_cast<const char*>(image.pixels.data()) + y * image.width, image.width);
  }
  return rows;
}

void check_image(const IndexedImage& image) {
  SLUICE_ASSERT(image.width > 0 && image.height > 0 && image.pixels.size() == image.width * image.height,
                "image: {} pixels for {} x {}", image.pixels.size(), image.width, image.height);
  SLUICE_ASSERT(!image.palette.empty() && image.palette.size() <= 256, "image: {} colours",
                image.palette.size());
  SLUICE_ASSERT(*std::ranges::max_element(image.pixels) < image.palette.size(),
                "image: a pixel without a colour");
}

}  // namespace

std::string encoded_png(const IndexedImage& image) {
  check_image(image);
  std::string colors, opacities;
  for (const Color& each : image.palette) {
    for (const uint8_t part : {each.red, each.green, each.blue}) colors += static_cast<char>(part);
    opacities += static_cast<char>(each.opacity == 0 ? 0 : 255);
  }
  std::string file = "\x89PNG\r\n\x1a\n";
  append_chunk("IHDR", header_of(image), file);
  append_chunk("PLTE", colors, file);
  append_chunk("tRNS", opacities, file);
  append_chunk("IDAT", zlib_stream(rows_of(image), image.width + 1), file);
  append_chunk("IEND", "", file);
  return file;
}

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i)
      group = group << 8 | (at + i < bytes.size() ? static_cast<uint8_t>(bytes[at + i]) : 0U);
    for (size_t i = 0; i < 4; ++i) text += at + i <= bytes.size() ? kDigits[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

}  // namespace sluice
