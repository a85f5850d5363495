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

// MODEL and --tokenizer.
struct ModelInput {
  std::string path, tokenizer;

  void declare(Options& options);
  LoadedModel open(Engine& engine, DType dtype) const {
    return {engine, path, {.dtype = dtype, .tokenizer = tokenizer}};
  }
};

// A prompt given as --prompt TEXT or --ids LIST; exactly one of them.
struct PromptOptions {
  std::string text, ids;

  void declare(Options& options);
  std::vector<TokenId> tokens(const LoadedModel& model, const std::string& command) const;
};

// --intervene, which may be there several times.
struct InterventionOptions {
  std::vector<std::string> texts;

  void declare(Options& options);
  std::vector<Intervention> interventions(const LoadedModel& model) const {
    return parse_interventions(texts, model.config());
  }
};

}  // namespace sluice::cli
