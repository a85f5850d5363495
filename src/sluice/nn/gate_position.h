// Where in a block a gate can sit. All that depends on the position is a row of one table; code asks the row
// and never which position it is. A new one is a row here, and the line in its layer that applies it.
#pragma once

#include <array>
#include <compare>
#include <string_view>

#include "sluice/nn/tap.h"

namespace sluice {

// What a gate modulates, as heads of channels.
enum class GatedTensor {
  QueryHeads,     // H heads of hd
  KeyValueHeads,  // K heads of hd
  Hidden,         // no heads: counted as one of D
};

// Which half of a block applies it.
enum class BlockPart { Mixer, FeedForward };

struct GatePositionRow {
  std::string_view name;  // in config.json
  BlockPart part;
  GatedTensor tensor;
  bool normed_and_rotated;  // afterwards, so that a gate may come before that as well
  std::string_view module;  // of its parameters, below the part's
  TapPoint tap;             // what it applies
};

inline constexpr std::array kGatePositionRows = {
    // The output of attention per head, values, keys, queries, the output of the block's last projection.
    GatePositionRow{
        "g1", BlockPart::Mixer, GatedTensor::QueryHeads, false, "gate_proj", {"attn.gate", TapAxes::Gate}},
    GatePositionRow{"g2",
                    BlockPart::Mixer,
                    GatedTensor::KeyValueHeads,
                    false,
                    "gate_g2_proj",
                    {"attn.gate_g2", TapAxes::Gate}},
    GatePositionRow{"g3",
                    BlockPart::Mixer,
                    GatedTensor::KeyValueHeads,
                    true,
                    "gate_g3_proj",
                    {"attn.gate_g3", TapAxes::Gate}},
    GatePositionRow{"g4",
                    BlockPart::Mixer,
                    GatedTensor::QueryHeads,
                    true,
                    "gate_g4_proj",
                    {"attn.gate_g4", TapAxes::Gate}},
    GatePositionRow{
        "g5", BlockPart::Mixer, GatedTensor::Hidden, false, "gate_g5_proj", {"attn.gate_g5", TapAxes::Gate}},
};

// The row whose gate passes this tap ("attn.gate"); none if it is no gate's.
constexpr const GatePositionRow* gate_row_at(std::string_view tap) {
  for (const GatePositionRow& row : kGatePositionRows)
    if (row.tap.name == tap) return &row;
  return nullptr;
}

// A row of the table, or one of somebody's own. Two are equal if they are the same row.
class GatePosition {
 public:
  constexpr GatePosition(const GatePositionRow& row) : row_(&row) {}
  GatePosition(const GatePositionRow&& row) = delete;  // the row must outlive it

  constexpr const GatePositionRow* operator->() const { return row_; }
  constexpr const GatePositionRow& operator*() const { return *row_; }
  friend constexpr bool operator==(GatePosition, GatePosition) = default;
  // For sets; among the rows of the table it is their order.
  friend constexpr auto operator<=>(GatePosition a, GatePosition b) {
    return std::compare_three_way()(a.row_, b.row_);
  }

  // With the paper's names.
  static const GatePosition G1, G2, G3, G4, G5;

 private:
  const GatePositionRow* row_;
};

inline constexpr GatePosition GatePosition::G1{kGatePositionRows[0]};
inline constexpr GatePosition GatePosition::G2{kGatePositionRows[1]};
inline constexpr GatePosition GatePosition::G3{kGatePositionRows[2]};
inline constexpr GatePosition GatePosition::G4{kGatePositionRows[3]};
inline constexpr GatePosition GatePosition::G5{kGatePositionRows[4]};

}  // namespace sluice
