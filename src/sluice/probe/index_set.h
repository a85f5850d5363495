// Chosen layers, heads, channels or positions: "0,3-5,8-".
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace sluice {

class IndexSet {
 public:
  // All indices.
  IndexSet() = default;

  // Numbers and ranges with both ends, separated by commas; a range without an end is open, "*" is all.
  // Usage error for anything else.
  static IndexSet parse(std::string_view text);

  bool is_all() const { return ranges_.empty(); }
  bool contains(int64_t index) const;

  // The largest index that was named, or -1: for checks against what there is.
  int64_t largest() const;

 private:
  static constexpr int64_t kOpen = std::numeric_limits<int64_t>::max();
  struct Span {
    int64_t first, last;
  };
  std::vector<Span> ranges_;  // none: all
};

}  // namespace sluice
