#include "sluice/infer/positions.h"

namespace sluice {

void warn_beyond_positions(const ModelConfig& config, std::string_view who, int64_t tokens,
                           const JobControl& control) {
  if (tokens <= config.positions) return;
  control.warn(
      "{} {} tokens, the model is made for {} (max_position_embeddings): what comes after may be poor", who,
      tokens, config.positions);
}

}  // namespace sluice
