#include "sluice/model/config.h"

namespace sluice {

int64_t ModelConfig::gated_heads(GatePosition position) const {
  switch (position) {
    case GatePosition::G1:
    case GatePosition::G4:
      return heads;
    case GatePosition::G2:
    case GatePosition::G3:
      return kv_heads;
    case GatePosition::G5:
      return 1;  // after W_O there are no heads
  }
  return 0;
}

int64_t ModelConfig::gated_width(GatePosition position) const {
  return position == GatePosition::G5 ? hidden : head_dim;
}

int64_t ModelConfig::score_count(const GateSpec& gate) const {
  const GateShape shape{gated_heads(gate.position), gated_width(gate.position), gate.form};
  return shape.heads * shape.score_width();
}

int64_t ModelConfig::score_inputs(const GateSpec& gate) const {
  switch (gate.input) {
    case GateInput::Token:
      return hidden;
    case GateInput::Truncated:
      return gate.channels;
    case GateInput::Constant:
      return 1;  // the score itself is learned
  }
  return 0;
}

}  // namespace sluice
