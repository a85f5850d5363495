// What sluice generate takes: the model, what to continue, and how the next token is chosen.
#pragma once

#include "sluice/cli/model_input.h"
#include "sluice/cli/text_format_option.h"
#include "sluice/probe/generate_text.h"

namespace sluice::cli {

struct GenerationOptions {
  ModelInput model;
  PromptOptions prompt;
  std::string prompts;
  TextFormatOption format;  // of the prompts
  InterventionOptions interventions;
  int max_tokens = 64, top_k = 0, seed = 0;
  double temperature = 0.0, top_p = 1.0, min_p = 0.0;

  void declare(Options& options);
  TextGenerationOptions generation(const LoadedModel& opened, int64_t prompt_tokens,
                                   const Session& session) const;

 private:
  void declare_sampling(Options& options);
};

}  // namespace sluice::cli
