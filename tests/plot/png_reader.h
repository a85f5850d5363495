// Reads the PNG files that tests meet: eight bits a channel, no interlacing, written by Cairo or by us.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "sluice/plot/canvas.h"

namespace sluice {

struct Pixels {
  size_t width = 0, height = 0;
  std::vector<Color> colors = {};

  const Color& at(size_t x, size_t y) const { return colors.at(y * width + x); }
};

class PngReader {
 public:
  explicit PngReader(const std::string& file) : file_(file) {}

  Pixels read() {
    if (file_.substr(0, 8) != "\x89PNG\r\n\x1a\n") throw std::runtime_error("no PNG");
    for (size_t at = 8; at < file_.size();) at = take_chunk(at);
    return unpacked(inflated());
  }

 private:
  size_t number(size_t at) const {
    size_t value = 0;
    for (size_t i = 0; i < 4; ++i) value = value << 8 | byte(file_, at + i);
    return value;
  }
  static uint8_t byte(const std::string& bytes, size_t at) { return static_cast<uint8_t>(bytes.at(at)); }

  size_t take_chunk(size_t at) {
    const size_t length = number(at);
    const std::string type = file_.substr(at + 4, 4), checked = file_.substr(at + 4, length + 4);
    if (crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size())) !=
        number(at + 8 + length))
      throw std::runtime_error("PNG: wrong checksum of " + type);
    const std::string content = file_.substr(at + 8, length);
    if (type == "IHDR") {
      width_ = number(at + 8);
      height_ = number(at + 12);
      kind_ = byte(content, 9);
    }
    if (type == "PLTE") palette_ = content;
    if (type == "tRNS") opacities_ = content;
    if (type == "IDAT") packed_ += content;
    return at + 12 + length;
  }

  size_t channels() const { return kind_ == 3 ? 1 : kind_ == 2 ? 3 : 4; }

  std::string inflated() const {
    std::string rows(height_ * (width_ * channels() + 1), '\0');
    uLongf size = rows.size();
    if (uncompress(reinterpret_cast<Bytef*>(rows.data()), &size,
                   reinterpret_cast<const Bytef*>(packed_.data()), packed_.size()) != Z_OK ||
        size != rows.size())
      throw std::runtime_error("PNG: cannot inflate");
    return rows;
  }

  static int paeth(int left, int above, int corner) {
    const int guess = left + above - corner;
    const int a = std::abs(guess - left), b = std::abs(guess - above), c = std::abs(guess - corner);
    return a <= b && a <= c ? left : b <= c ? above : corner;
  }

  static int predicted(int filter, int left, int above, int corner) {
    const int guesses[] = {0, left, above, (left + above) / 2, paeth(left, above, corner)};
    return guesses[filter];
  }

  Pixels unpacked(std::string rows) const {
    const size_t step = channels(), stride = width_ * step + 1;
    Pixels pixels{.width = width_, .height = height_};
    for (size_t y = 0; y < height_; ++y) {
      const int filter = byte(rows, y * stride);
      for (size_t i = 1; i < stride; ++i) {
        const size_t at = y * stride + i;
        const int left = i > step ? byte(rows, at - step) : 0, above = y > 0 ? byte(rows, at - stride) : 0;
        const int corner = i > step && y > 0 ? byte(rows, at - stride - step) : 0;
        rows[at] = static_cast<char>(byte(rows, at) + predicted(filter, left, above, corner));
      }
      for (size_t x = 0; x < width_; ++x) pixels.colors.push_back(color(rows, y * stride + 1 + x * step));
    }
    return pixels;
  }

  Color color(const std::string& rows, size_t at) const {
    if (kind_ != 3) return {byte(rows, at), byte(rows, at + 1), byte(rows, at + 2)};
    const size_t index = byte(rows, at);
    const double opacity = index < opacities_.size() ? byte(opacities_, index) / 255.0 : 1;
    return {byte(palette_, 3 * index), byte(palette_, 3 * index + 1), byte(palette_, 3 * index + 2), opacity};
  }

  const std::string& file_;
  size_t width_ = 0, height_ = 0;
  int kind_ = 0;  // 2 colours, 3 palette, 6 colours with opacity
  std::string palette_, opacities_, packed_;
};

}  // namespace sluice
