// An experiment's runs: trained as a sweep, each measured on text that it never saw.
#pragma once

#include <functional>

#include "sluice/experiment/experiment_result.h"
#include "sluice/experiment/sweep.h"

namespace sluice {

struct ExperimentRequest {
  Experiment experiment;
  std::filesystem::path home;  // gets the text, and a directory of runs named like the experiment
  RunSelection runs = RunSelection::All;
  int most_seeds = 0;                 // trained, the first of those that are planned; 0: all
  std::filesystem::path ledger = {};  // a directory (ledger.h): what is known in it is neither trained nor
                                      // measured again, and what is measured is added to it; empty: none
  // Called with what is planned, before anything is trained: what it throws refuses the experiment.
  std::function<void(const ExperimentResult& planned)> check = {};
};

// Trains what is missing, then measures all runs that have ended. Interrupted training is an Error of that
// kind. Where there is nothing to train and no run to measure, the text is not needed either.
ExperimentResult run_experiment(Engine& engine, const ExperimentRequest& request,
                                const JobControl& control = {}, const SweepObserver& observer = {});

// What the text of a ledger knows of an experiment: no disk is asked, and nothing is trained.
ExperimentResult known_result(const Experiment& experiment, std::string_view ledger_text);

}  // namespace sluice
