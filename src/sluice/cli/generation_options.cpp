#include "sluice/cli/generation_options.h"

namespace sluice::cli {

void GenerationOptions::declare(Options& options) {
  model.declare(options);
  prompt.declare(options);
  options.text(
      {.name = "--prompts",
       .value = "FILE",
       .text = "Many prompts: a line each, or .jsonl with a text field; a line of JSON for each result"},
      prompts);
  format.declare(options, "--prompts");
  interventions.declare(options);
  options.integer({.name = "--max-tokens",
                   .value = "N",
                   .text = "New tokens at most (default: 64)",
                   .low = 1,
                   .high = 1 << 20},
                  max_tokens);
  declare_sampling(options);
}

void GenerationOptions::declare_sampling(Options& options) {
  options.number({.name = "--temperature",
                  .value = "X",
                  .text = "0 is greedy, the default; 1 samples as the model says",
                  .low = 0,
                  .high = 100},
                 temperature);
  options.integer({.name = "--top-k",
                   .value = "N",
                   .text = "Sample from the N likeliest tokens (default: all)",
                   .low = 0,
                   .high = 1 << 24},
                  top_k);
  options.number({.name = "--top-p",
                  .value = "X",
                  .text = "Sample from the fewest tokens that hold a share X (default: 1)",
                  .low = 0,
                  .high = 1},
                 top_p);
  options.number({.name = "--min-p",
                  .value = "X",
                  .text = "Leave out tokens less than X times as likely as the first (default: 0)",
                  .low = 0,
                  .high = 1},
                 min_p);
  options.integer({.name = "--seed",
                   .value = "N",
                   .text = "Seed of the sampling (default: 0)",
                   .low = 0,
                   .high = 2147483647},
                  seed);
}

TextGenerationOptions GenerationOptions::generation(const LoadedModel& opened, int64_t prompt_tokens,
                                                    const Session& session) const {
  return {.sampler = {.temperature = temperature,
                      .top_k = top_k,
                      .top_p = top_p,
                      .min_p = min_p,
                      .seed = static_cast<uint64_t>(seed)},
          .max_tokens = max_tokens,
          .interventions = interventions.interventions(opened, prompt_tokens + max_tokens - 1, session)};
}

}  // namespace sluice::cli
