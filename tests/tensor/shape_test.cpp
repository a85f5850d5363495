#include "sluice/tensor/shape.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

TEST(Shape, of_rank_0_is_a_single_value) {
  const Shape shape;
  EXPECT_EQ(shape.rank(), 0);
  EXPECT_EQ(shape.count(), 1);
  EXPECT_EQ(shape.rows(), 1);
  EXPECT_EQ(shape.cols(), 1);
  EXPECT_EQ(shape.text(), "[]");
}

TEST(Shape, is_also_a_matrix_of_its_last_dimension_and_all_others) {
  struct Case {
    Shape shape;
    int64_t count, rows, cols;
  };
  const std::vector<Case> cases = {
      {{5}, 5, 1, 5}, {{2, 3}, 6, 2, 3}, {{2, 3, 4}, 24, 6, 4}, {{2, 3, 4, 5}, 120, 24, 5},
      {{0}, 0, 1, 0}, {{0, 3}, 0, 0, 3}, {{3, 0}, 0, 3, 0},     {{2, 0, 4}, 0, 0, 4}};
  for (const auto& [shape, count, rows, cols] : cases) {
    EXPECT_EQ(shape.count(), count) << shape.text();
    EXPECT_EQ(shape.rows(), rows) << shape.text();
    EXPECT_EQ(shape.cols(), cols) << shape.text();
  }
}

TEST(Shape, tells_its_dimensions) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[2], 4);
  EXPECT_EQ(shape.text(), "[2, 3, 4]");
  EXPECT_EQ(Shape{0}.text(), "[0]");
}

TEST(Shape, refuses_an_axis_it_does_not_have) {
  const Shape shape{2, 3};
  EXPECT_THROW(shape[2], AssertionError);
  EXPECT_THROW(shape[-1], AssertionError);
  EXPECT_THROW(Shape()[0], AssertionError);
}

TEST(Shape, equals_only_the_same_dimensions) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE((Shape{6}), (Shape{2, 3}));
  EXPECT_NE((Shape{3}), (Shape{3, 1}));
  EXPECT_NE((Shape{0}), Shape());
}

TEST(Shape, can_be_made_of_any_list) {
  const std::vector<int64_t> dims = {4, 5};
  EXPECT_EQ(Shape(dims), (Shape{4, 5}));
  EXPECT_EQ(Shape(std::vector<int64_t>{}), Shape());
}

TEST(Shape, refuses_a_negative_dimension) {
  EXPECT_THROW(Shape({-1}), AssertionError);
  EXPECT_THROW(Shape({2, -3}), AssertionError);
  EXPECT_THROW(Shape({0, -1}), AssertionError);
  EXPECT_THROW(Shape({std::numeric_limits<int64_t>::min()}), AssertionError);
}

TEST(Shape, has_at_most_four_dimensions) {
  EXPECT_EQ(Shape({1, 2, 3, 4}).rank(), Shape::kMaxRank);
  EXPECT_THROW(Shape({1, 2, 3, 4, 5}), AssertionError);
  EXPECT_THROW(Shape(std::vector<int64_t>(100, 1)), AssertionError);
}

TEST(Shape, refuses_a_count_that_does_not_fit) {
  EXPECT_THROW(Shape({kLargest}), AssertionError);
  EXPECT_THROW(Shape({int64_t{1} << 31, int64_t{1} << 31}), AssertionError);
  EXPECT_THROW(Shape({int64_t{1} << 16, int64_t{1} << 16, int64_t{1} << 16, int64_t{1} << 16}),
               AssertionError);
  EXPECT_THROW(Shape({3, kLargest / 2}), AssertionError);
}

TEST(Shape, leaves_room_for_a_count_of_bytes) {
  const Shape largest{kLargest / 16};
  EXPECT_GT(largest.count() * 8, 0);
  EXPECT_THROW(Shape({kLargest / 16 + 1}), AssertionError);
}

TEST(Shape, refuses_dimensions_whose_product_overflows_before_a_zero) {
  // The count is 0, but rows() would be their product.
  EXPECT_THROW(Shape({kLargest, kLargest, 0}), AssertionError);
  EXPECT_THROW(Shape({0, kLargest, kLargest}), AssertionError);
}

}  // namespace
}  // namespace sluice
