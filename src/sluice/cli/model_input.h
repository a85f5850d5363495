// What the commands that run a model share: opening it, prompts and interventions from their options.
#pragma once

#include "sluice/cli/command.h"
#include "sluice/infer/loaded_model.h"
#include "sluice/probe/intervention.h"

namespace sluice::cli {

// --dtype of the commands that run a model.
Command::Dtype model_dtype();

// What --dtype says, f32 if it is not given.
DType weight_type(const Session& session);

// --allow-nonfinite, of every command that loads a model.
struct NonFiniteOption {
  bool allow = false;

  void declare(Options& options);
  NonFinite nonfinite() const { return allow ? NonFinite::Allowed : NonFinite::Refused; }
};

// MODEL, --tokenizer and --allow-nonfinite.
struct ModelInput {
  std::string path, tokenizer;
  NonFiniteOption weights = {};

  void declare(Options& options);
  ModelOptions options(DType dtype) const {
    return {.dtype = dtype, .tokenizer = tokenizer, .nonfinite = weights.nonfinite()};
  }
  LoadedModel open(Engine& engine, const Session& session) const;
};

// A prompt given as --prompt TEXT or --ids LIST; exactly one of them.
struct PromptOptions {
  std::string text, ids;

  void declare(Options& options);
  std::vector<TokenId> tokens(const LoadedModel& model, const std::string& command) const;
};

// --intervene, which may be there several times, and --calibration.
struct InterventionOptions {
  std::vector<std::string> texts;
  std::vector<std::string> calibration;  // files

  void declare(Options& options);

  // For sequences of at most so many tokens.
  std::vector<Intervention> interventions(const LoadedModel& model, int64_t tokens,
                                          const Session& session) const;
};

}  // namespace sluice::cli
