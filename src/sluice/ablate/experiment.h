// An experiment: a question, the grid of training runs that answers it, and everything that was decided
// before the first of them ended: how many seeds, when they are looked at, which runs count, which
// differences do not matter. Read from experiments/NAME.json; experiment_runs.h trains and measures.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sluice/ablate/grid.h"

namespace sluice {

// What the models are trained on. Made once in the experiments' home, the same for every run.
struct ExperimentText {
  enum class Kind {
    Backcopy,  // documents of a BackcopyChain (data/backcopy.h)
    Synth,     // English-like text (data/synth.h)
    File       // somebody's own, below the home
  };

  Kind kind = Kind::Synth;
  uint64_t seed = 1;
  int64_t documents = 40'000;  // of Backcopy
  int64_t bytes = 20'000'000;  // of Synth
  std::string file = {};       // of File
  int64_t vocabulary = 0;      // of the tokenizer that is trained on it; 0: bytes

  // Different for different texts; of the files that are made.
  std::string stem() const;
};

// A look that was planned: how many pairs of seeds there are then, and how much of the 5 % error it may
// spend.
struct ExperimentLook {
  int64_t pairs = 0;
  double error = 0;
};

struct Experiment {
  std::string name;  // of its file
  std::string question = {};
  std::vector<std::string> method = {}, known_before = {}, limits = {};  // paragraphs

  ExperimentText text = {};
  std::string run = {};                   // a preset, or the path of a run's configuration
  std::vector<std::string> changes = {};  // made to it for every run
  std::vector<GridAxis> axes = {};        // the first variant is what the others are compared with
  int seeds = 0;

  std::vector<ExperimentLook> looks = {};  // by pairs
  std::optional<double> solved = {};       // share of copies from which a run counts; of Backcopy alone
  double equal_loss = 0.01;                // nats per token: within it losses are equal
};

// Bad input that names the key.
Experiment read_experiment(const std::filesystem::path& file);

}  // namespace sluice
