#include "sluice/plot/indexed_png.h"

#include <gtest/gtest.h>

#include "sluice/base/assert.h"
#include "tests/plot/png_reader.h"
#include "tests/plot/sample_charts.h"

namespace sluice {
namespace {

IndexedImage image_of(size_t width, size_t height, const std::function<uint8_t(size_t, size_t)>& pixel) {
  IndexedImage image{.width = width, .height = height};
  for (int i = 0; i < 256; ++i)
    image.palette.push_back(
        {static_cast<uint8_t>(i), static_cast<uint8_t>(255 - i), 7, i == 255 ? 0.0 : 1.0});
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < width; ++x) image.pixels.push_back(pixel(x, y));
  return image;
}

void expect_read_back(const IndexedImage& image) {
  const std::string file = encoded_png(image);
  const Pixels pixels = PngReader(file).read();
  ASSERT_EQ(pixels.width, image.width);
  ASSERT_EQ(pixels.height, image.height);
  for (size_t i = 0; i < image.pixels.size(); ++i)
    ASSERT_EQ(pixels.colors[i], image.palette[image.pixels[i]]) << i << " of " << image.width;
}

TEST(IndexedPng, holds_every_pixel_whatever_the_repetitions) {
  for (const size_t width : {1, 2, 3, 7, 64, 257, 600}) {
    expect_read_back(image_of(width, 5, [](size_t, size_t) { return 3; }));
    expect_read_back(image_of(width, 300, [](size_t, size_t) { return 200; }));
    expect_read_back(image_of(width, 9, [](size_t x, size_t) { return static_cast<uint8_t>(x); }));
    expect_read_back(image_of(width, 9, [=](size_t x, size_t y) {
      return static_cast<uint8_t>(255 * sample_value(x + y * width));
    }));
    expect_read_back(
        image_of(width, 40, [](size_t x, size_t y) { return static_cast<uint8_t>(x > y ? 255 : x / 9); }));
  }
}

TEST(IndexedPng, has_rows_farther_apart_than_a_match_can_reach) {
  expect_read_back(
      image_of(40000, 3, [](size_t x, size_t) { return static_cast<uint8_t>(255 * sample_value(x)); }));
}

TEST(IndexedPng, of_a_map_that_repeats_is_small) {
  const IndexedImage empty = image_of(512, 512, [](size_t, size_t) { return 0; });
  EXPECT_LT(encoded_png(empty).size(), 5000U);
}

TEST(IndexedPng, refuses_pixels_without_a_colour) {
  EXPECT_THROW(encoded_png({.width = 2, .height = 1, .palette = {{}}, .pixels = {0}}), AssertionError);
  EXPECT_THROW(encoded_png({.width = 1, .height = 1, .palette = {{}}, .pixels = {1}}), AssertionError);
  EXPECT_THROW(encoded_png({}), AssertionError);
}

TEST(Base64, has_the_known_forms) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe"), "//4=");
}

}  // namespace
}  // namespace sluice
