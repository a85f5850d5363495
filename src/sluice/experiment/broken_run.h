// What breaking a trained model did (experiment_breaking.h), in numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

struct BrokenRun {
  std::string variant = {};  // its point's name
  int seed = 0;

  int64_t sequences = 0;  // held out, that all of this was measured on
  double sink = 0;        // of the unbroken model
  // Correlation of a head's gate with its attention on the first token, mean over heads and layers; NaN: no
  // gate.
  double gate_with_sink = 0;
  struct Effect {
    // Change, nats per token. NaN: the model does not have what is changed; infinite: its loss or perplexity
    // is beyond all numbers.
    double loss = 0;
    double sink = 0;  // of the broken model; NaN where the loss is no number
  };
  std::vector<Effect> effects = {};  // by intervention

  int64_t heads = 0;
  // Heads whose closing costs less than what counts as equal; none: heads that share keys and values are not
  // tried.
  std::optional<int64_t> removed = {};
  double removed_loss = 0;     // change when all of them are removed together
  double trained_on_loss = 0;  // the same difference after both models have trained on
};

}  // namespace sluice
