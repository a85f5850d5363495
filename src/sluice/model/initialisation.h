// How training starts: the standard deviations of a model's matrices. Gates have their own (nn/gate_spec.h).
#pragma once

#include <optional>

#include "sluice/nn/parameters.h"

namespace sluice {

struct Initialisation {
  double std = kUsualStd;
  std::optional<double> gain = {};       // instead: gain / √inputs, which keeps the size of what passes
  std::optional<double> embedding = {};  // its own; the usual one with a gain, where it has no inputs
  std::optional<double> output = {};     // of an output layer that is not tied
  // What a layer adds to the residual, divided by √(2 · layers): the sum does not grow with the depth.
  bool residual_by_depth = false;
  // Of what attention adds: 0.5 starts a baseline where a sigmoid gate of 0.5 starts.
  double attention_output = 1;

  bool operator==(const Initialisation&) const = default;
};

// Of a parameter in a model of so many layers. What is no matrix, and a gate's, stays as its layer has it.
double starting_std(const NamedParameter& named, const Initialisation& start, int64_t layers);

}  // namespace sluice
