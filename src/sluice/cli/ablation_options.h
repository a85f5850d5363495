// The options of ablate: what is broken, on what, how precisely, and what is shown of it.
#pragma once

#include "sluice/ablate/ablation.h"
#include "sluice/cli/chunk_options.h"
#include "sluice/cli/model_input.h"
#include "sluice/cli/text_options.h"

namespace sluice::cli {

// Which runs there are: --plan, --layers, --heads, --actions, --draws.
struct PlanOptions {
  std::optional<std::string> plan, layers, heads, actions;
  std::optional<std::int64_t> draws;

  void declare(Options& options);
  void apply(AblationRequest& request) const;

  // The first of these options that was given; null if none was.
  const char* given() const;

 private:
  const char* given_beside_plan() const;  // a plan's file says all of it
  void apply_words(PlanRequest& planned, size_t models) const;
  void apply_actions(PlanRequest& planned) const;
  void apply_heads(PlanRequest& planned) const;
};

struct AblationOptions {
  std::vector<std::string> models;
  std::string tokenizer, out, precision, calibration;
  std::optional<std::string> prompt;
  NonFiniteOption weights;
  TextOptions text;
  ChunkingOptions chunking;
  PlanOptions plan;
  bool exhaustive = false, resume = false, join = false, dry_run = false, print_plan = false;
  bool estimate = false, estimate_only = false;
  double margin = StoppingRule().margin;
  std::optional<std::int64_t> memory, seed, steps, sample_tokens;

  void declare(Options& options);

  // Usage error for what contradicts each other.
  AblationRequest request(const Session& session) const;

 private:
  void declare_text(Options& options);
  void declare_precision(Options& options);
  void declare_output(Options& options);
  void check() const;
  std::vector<AblationText> texts() const;
  StoppingRule rule() const;
};

}  // namespace sluice::cli
