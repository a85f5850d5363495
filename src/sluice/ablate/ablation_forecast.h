// What an ablation will take, before it runs: counts, arithmetic, and time from a short trial on this
// machine.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sluice/ablate/ablation.h"

namespace sluice {

struct PreparedAblation;

struct TextForecast {
  std::string name;
  int64_t chunks = 0, chunk_length = 0;
  std::string calibration;
};

struct ModelForecast {
  std::string name;
  AblationPlan plan = {};         // its first part
  bool estimates_only = false;    // then there are no runs
  int64_t runs = 0, to_come = 0;  // to_come: of heads, chosen by what the first part will show
  int64_t comparisons = 0;        // that share the error, as comparisons_of() counts them
  std::vector<TextForecast> texts = {};
  int64_t evaluations = 0;  // different runs × chunks of all texts, if none rests
  // Floating-point operations if none rests: every run on its own, with what is shared computed once, and of
  // estimates.
  double naive = 0, shared = 0, estimates = 0;
  int64_t memory = 0;        // bytes beside the weights
  double trial_seconds = 0;  // that the unbroken model took for one chunk
  double trial_work = 0;     // operations of that chunk

  // Of everything, if no run rests before the end of the text.
  double seconds() const { return trial_work > 0 ? (shared + estimates) * trial_seconds / trial_work : 0; }
};

struct AblationForecast {
  std::vector<ModelForecast> models = {};
  double seconds() const;
};

// Reads and checks everything that run_ablation() would, looks at gates if the plan has controls, and runs
// one chunk of each model. Writes nothing.
AblationForecast forecast_ablation(Engine& engine, const AblationRequest& request,
                                   const JobControl& control = {});

// A line if not even one run of a chunk fits into the request's memory, which is taken all the same.
void warn_of_memory(const std::string& model, const AblationRequest& request,
                    const PreparedAblation& prepared, const JobControl& control);

nlohmann::ordered_json to_json(const AblationForecast& forecast);
std::string to_text(const AblationForecast& forecast);

}  // namespace sluice
