// Values by row and column as colours: gates by layer and head, by token and layer, attention by query and
// key.
#pragma once

#include <string>
#include <vector>

#include "sluice/plot/category_axis.h"
#include "sluice/plot/color_bar.h"
#include "sluice/plot/panel.h"

namespace sluice {

enum class CellNumbers { None, WhereTheyFit };
enum class CellShape { Any, Square };
enum class ColorBarPlace { None, Right };

struct HeatMap {
  std::string title = {};
  size_t rows = 0, columns = 0;
  std::vector<double> values = {};  // [rows × columns], the top row first; what is not finite is hatched
  CategoryAxis x = {}, y = {};      // names of columns and of rows
  ColorScale color =
      {};  // values below the centre of a diverging map have a dash, in maps of up to 1,024 cells
  // By cell, or empty: has a frame. Maps of more than 1,024 cells draw none.
  std::vector<bool> framed = {};
  CellNumbers numbers = CellNumbers::WhereTheyFit;  // in all cells or in none
  int decimals = 2;
  CellShape shape = CellShape::Any;
  ColorBarPlace color_bar = ColorBarPlace::Right;
  std::string empty = "no data";
};

// The box holds all of it, labels, bar and title too.
void draw_heat_map(Canvas& canvas, const Box& box, const HeatMap& map);

Panel panel_of(HeatMap map);

}  // namespace sluice
