// An experiment: a question, the grid of training runs that answers it, and everything that was decided
// before the first of them ended: how many seeds, when they are looked at, which runs count, which
// differences do not matter. Read from experiments/NAME.json; experiment_runs.h trains and measures.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/json.h"
#include "sluice/data/backcopy.h"
#include "sluice/experiment/grid.h"
#include "sluice/experiment/statistics.h"

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
  int64_t documents = 40'000;                   // of Backcopy
  BackcopyStart start = BackcopyStart::Symbol;  // likewise
  int64_t bytes = 20'000'000;                   // of Synth
  std::string file = {};                        // of File
  int64_t vocabulary = 0;                       // of the tokenizer that is trained on it; 0: bytes
  std::optional<int64_t> pieces = {};           // not of Backcopy: as TokenizeRequest::piece_tokens

  // Different for different texts that are made; of files, what they are called.
  std::string stem() const;

  // Whether tokens of that name may be its own. Of a file's the name ends with digits of what is in it.
  static constexpr size_t kContentDigits = 12;
  bool makes(std::string_view tokens) const;
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

// Of a trained model; changes as parse_intervention() takes them.
struct PlannedIntervention : NamedChanges {
  bool is_control = false;  // others are judged beside it; it is not judged itself
  // The place of another intervention, whose effect on the same models is compared.
  std::optional<size_t> against = {};
};

// How answers name an intervention: with _ for its spaces.
std::string as_one_word(std::string name);

// How the trained models of an experiment are broken (experiment_breaking.h).
struct BreakingPlan {
  std::vector<PlannedIntervention> interventions = {};
  int64_t train_on = 0;  // steps, after heads without an effect were removed
  double rate = 0;       // of these steps
};

// What somebody wrote after a look. Numbers in it are computed (report/experiment_answer.h).
struct WrittenAnswer {
  int64_t pairs = 0;  // of seeds, that it was written at; 0: of an experiment without looks
  std::vector<std::string> paragraphs = {};
};

struct Experiment {
  std::string name;  // of its file
  std::filesystem::path file = {};
  std::string question = {};
  std::vector<std::string> method = {}, known_before = {}, limits = {};  // paragraphs
  std::vector<std::string> changed_later = {};  // of the plan, when some of its runs had ended: paragraphs
  WrittenAnswer answer = {};                    // none: no paragraphs

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
  bool slope = false;        // how differences change over the conditions is asked, too
  double equal_loss = 0.01;  // nats per token: within it losses are equal
};

// Bad input that names the key.
Experiment read_experiment(const std::filesystem::path& file);

// What such a file holds; others that it names are looked for beside it.
Experiment read_experiment(const Json& json, const std::filesystem::path& file);

}  // namespace sluice
