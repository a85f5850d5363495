// Where values lie along an axis, and the round values that are written at it.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace sluice {

enum class AxisScale { Linear, Log };
enum class TickValues { Any, Whole };  // Whole: layers, heads and the like have no halves; linear axes only

// A logarithmic axis has no place for what is not positive, and none has one for what is not finite.
bool is_on(AxisScale scale, double value);

// From the lowest to the highest of some values.
struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  bool is_empty() const { return low > high; }
  void add(double value);  // what is not finite does not count
};

struct Tick {
  double value = 0;
  std::string label;
};

class Axis {
 public:
  // Both ends are on the axis. One value alone, or none, gets room around it.
  Axis(Extent extent, AxisScale scale, TickValues values = TickValues::Any);

  // Room at both ends, as a share of the length.
  void pad(double share);

  // 0 at the low end, 1 at the high one.
  double position(double value) const;
  bool has_place_for(double value) const { return is_on(scale_, value); }
  double lowest() const;  // that has a place between the ends

  // As many round values as there can be such that `fits` accepts them, at most `most`.
  std::vector<Tick> ticks(int most, const std::function<bool(const std::vector<Tick>&)>& fits) const;
  std::vector<Tick> ticks(int most) const;

 private:
  double along(double value) const;

  AxisScale scale_;
  TickValues values_;
  double low_ = 0, high_ = 1;  // as values, or their logarithms to base 10
};

}  // namespace sluice
