// How large values get at one point of one layer, and where.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/eval/estimate.h"
#include "sluice/nn/tap_points.h"
#include "sluice/text/vocabulary.h"

namespace sluice {

// The block's output first, which is what "massive activation" means without further words.
inline constexpr std::array kActivationPoints = {points::kResidual, points::kAttentionOut, points::kMiddle,
                                                 points::kMlpOut, points::kGated};

struct LargestValue {
  double size = 0;                     // its absolute value
  int64_t channel = 0;                 // of [heads · width] where there are heads
  int64_t sequence = 0, position = 0;  // of the token
  std::optional<TokenId> token = {};   // filled in later, as its context is
  std::string context = {};            // the tokens around it as text, the token itself in brackets
};

struct ActivationLayer {
  int64_t layer = 0;
  LargestValue largest = {};
  std::vector<double> by_sequence = {};  // the largest of each
};

// [N, …]
void add_activations(ActivationLayer& layer, const Tensor& value, const Sequences& sequences);

struct ActivationMeasure {
  TapPoint point;
  std::vector<ActivationLayer> layers = {};
  Estimate of_sequences = {};  // the largest of a sequence: mean over layers and sequences

  // The mean over layers of the largest.
  double mean() const;
};

}  // namespace sluice
