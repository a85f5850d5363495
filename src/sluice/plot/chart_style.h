// The look that all charts share: inks, sizes of text, room around things.
#pragma once

#include "sluice/plot/canvas.h"

namespace sluice {

inline constexpr Color kInk{51, 51, 51}, kGrid{226, 226, 226}, kQuiet{95, 95, 95}, kPaper{255, 255, 255};
inline constexpr double kTickLength = 4;
inline constexpr double kLabelHeight = 16;  // a line of tick labels, or the label of an axis
inline constexpr double kCapitals = 0.72;   // height of capitals and digits, as a share of the font size

inline constexpr TextStyle kTickText{.size = 10, .color = kInk};
inline constexpr TextStyle kLabelText{.size = 11, .color = kInk};
inline constexpr TextStyle kTitleText{.size = 12, .weight = FontWeight::Bold, .color = kInk};
inline constexpr TextStyle kNoteText{.size = 10, .color = kQuiet};  // captions and remarks

inline constexpr TextStyle anchored(TextStyle style, Anchor anchor, Turn turn = Turn::None) {
  style.anchor = anchor;
  style.turn = turn;
  return style;
}

}  // namespace sluice
