// Which taps are meant: "layers.3.attn.gate", "layers.0-5.attn.*", "attn.gate" (every layer), "logits".
#pragma once

#include <string>
#include <string_view>

#include "sluice/nn/tap_points.h"
#include "sluice/probe/index_set.h"

namespace sluice {

class TapPattern {
 public:
  // Usage error, with the nearest point, if no tap can have such a name.
  explicit TapPattern(std::string_view text);

  bool matches(const TapName& name) const;

  const std::string& text() const { return text_; }
  const IndexSet& layers() const { return layers_; }

  // Whether it can match a tap of this point in some layer.
  bool matches_point(const TapPoint& point) const;

 private:
  std::string text_;
  std::string point_;  // with * for any text
  IndexSet layers_;
  bool in_layers_ = false;  // begins with "layers.": taps outside the layers are not meant
};

}  // namespace sluice
