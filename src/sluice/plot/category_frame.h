// A chart of values by category: names below, an axis at the left, and in each category a slot for each
// group.
#pragma once

#include "sluice/plot/category_axis.h"
#include "sluice/plot/chart_frame.h"

namespace sluice {

struct CategoryChart {
  CategoryAxis x;
  size_t categories = 0, groups = 1;
  Axis y;
  std::string y_label;
};

class CategoryFrame {
 public:
  CategoryFrame(const Box& room, CategoryChart chart);

  const Box& area() const { return area_; }
  const Axis& y() const { return chart_.y; }
  double upwards(double value) const { return area_.bottom() - chart_.y.position(value) * area_.height; }

  // From side to side of what one group has to show of one category, over the height of the area.
  Box slot(size_t category, size_t group) const;

  void draw_axes(Canvas& canvas) const;

 private:
  CategoryChart chart_;
  Box room_, area_;
};

// A width at which that many categories with that many groups can be told apart.
double category_chart_width(size_t categories, size_t groups);

}  // namespace sluice
