// An experiment's runs: trained as a sweep, each measured on text that it never saw.
#pragma once

#include "sluice/experiment/experiment_result.h"
#include "sluice/experiment/sweep.h"

namespace sluice {

struct ExperimentRequest {
  Experiment experiment;
  std::filesystem::path home;  // gets the text, and a directory of runs named like the experiment
  RunSelection runs = RunSelection::All;
};

// Trains what is missing, then measures all runs that have ended. Interrupted training is an Error of that
// kind.
ExperimentResult run_experiment(Engine& engine, const ExperimentRequest& request,
                                const JobControl& control = {}, const SweepObserver& observer = {});

}  // namespace sluice
