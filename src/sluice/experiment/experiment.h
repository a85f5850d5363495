// An experiment: a question, the grid of training runs that answers it, and everything that was decided
// before the first of them ended: how many seeds, when they are looked at, which runs count, which
// differences do not matter. Read from experiments/NAME.json; experiment_runs.h trains and measures.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sluice/experiment/grid.h"

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

  // Different for different texts that are made; of files, what they are called.
  std::string stem() const;
};

// Changes to a run's configuration under a name.
struct NamedChanges {
  std::string name;
  std::vector<std::string> changes = {};
};

struct ExperimentVariant : NamedChanges {
  // Its feed-forward part is made as wide as gives it the parameters of the first variant.
  bool equal_parameters = false;
};

// Under which all variants are compared, each with the first: a learning rate, a size.
struct ExperimentCondition : NamedChanges {
  std::optional<double> at = {};  // its place on the axis of figures; none: the first variant's parameters
};

enum class ConditionAxis {
  Values,  // places on a line
  Names    // nothing lies between two of them
};

// How the trained models of an experiment are broken (experiment_breaking.h).
struct BreakingPlan {
  std::vector<NamedChanges> interventions = {};  // changes as parse_intervention() takes them
  int64_t train_on = 0;                          // steps, after heads without an effect were removed
  double rate = 0;                               // of these steps
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
  std::string run = {};                          // a preset, or the path of a run's configuration
  std::vector<std::string> changes = {};         // made to it for every run
  std::vector<GridAxis> axes = {};               // every combination is a variant; or:
  std::vector<ExperimentVariant> variants = {};  // the first is what the others are compared with
  std::string condition = {};                    // what the conditions are: "highest learning rate"
  std::vector<ExperimentCondition> conditions = {};
  ConditionAxis condition_axis = ConditionAxis::Values;
  int seeds = 0;
  int first_seed = 1;

  std::vector<ExperimentLook> looks = {};  // by pairs; none: nothing is compared
  std::optional<double> solved = {};       // share of copies from which a run counts; of Backcopy alone
  // Another experiment, beside this one's file, whose best condition (experiment_tuning.h) all runs get;
  // empty: none.
  std::filesystem::path tuned_by = {};
  std::string runs = {};  // whose they are; empty: its own
  std::optional<BreakingPlan> breaking = {};
  bool course = false;       // every checkpoint that the runs keep is measured, too
  double equal_loss = 0.01;  // nats per token: within it losses are equal
};

// Something that is trained with every seed.
struct PlannedVariant {
  GridPoint point;
  std::string variant, condition = {};  // names; no condition: empty
  double at = 0;                        // of the condition
  int64_t parameters = 0;
  size_t against = 0;  // the place of what it is compared with
};

// Condition after condition, the variants of each in their order.
std::vector<PlannedVariant> planned_variants(const Experiment& experiment);

// Bad input that names the key.
Experiment read_experiment(const std::filesystem::path& file);

}  // namespace sluice
