// Names along an axis of equal steps: layers, heads, tokens, kinds of text. As many are written as there is
// room for.
#pragma once

#include <string>
#include <vector>

#include "sluice/plot/canvas.h"

namespace sluice {

struct CategoryAxis {
  std::string label = {};               // what the names are; empty: none
  std::vector<std::string> names = {};  // empty: numbers from 0
};

std::vector<std::string> names_of(const CategoryAxis& axis, size_t count);

// The names of categories as they are written, and the room they take.
class CategoryLabels {
 public:
  enum class Side { Below, Left };

  // `pitch` is the length of a category along the axis. Numbers that have no room are thinned; words below
  // are turned first.
  CategoryLabels(const CategoryAxis& axis, size_t count, Side side, double pitch);

  // Across the axis: names and label.
  double room() const;

  // Along an edge of the area; `limits` is the box of the chart, which no name leaves.
  void draw(Canvas& canvas, const Box& area, const Box& limits) const;

 private:
  void draw_below(Canvas& canvas, const Box& area, const Box& limits) const;
  void draw_left(Canvas& canvas, const Box& area, const Box& limits) const;

  std::string label_;
  Side side_;
  Turn turn_ = Turn::None;
  size_t step_ = 1;  // every how manieth is written
  std::vector<std::string> names_;
  double longest_ = 0;  // of the names across the axis
};

}  // namespace sluice
