// What the commands that run a model share: loading it, and turning prompts into token ids.
#pragma once

#include <memory>
#include <string_view>

#include "sluice/base/error.h"
#include "sluice/cli/command.h"
#include "sluice/model/decoder.h"
#include "sluice/probe/intervention.h"
#include "sluice/text/tokenizer.h"

namespace sluice::cli {

struct RunnableModel {
  std::string path;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Decoder> decoder;
  Tokenizer tokenizer;

  Packing packing = Packing::Once;

  Context context(Probe* probe = nullptr) const {
    return Context{*engine, nullptr, probe}.with_packing(packing);
  }

  // For commands that run many passes. The first takes longer and memory moves from the file to the process;
  // a single prompt is answered sooner without.
  void keep_weights_packed() { packing = Packing::Keep; }

  // Bad input if a token of the text is not in the model's vocabulary.
  std::vector<int32_t> encode(std::string_view text) const;
};

// In the dtype and on the threads that the session asks for.
RunnableModel open_model(const Session& session, const std::string& path);

// In another dtype, named as --dtype names it.
RunnableModel open_model(const Session& session, const std::string& path, const std::string& dtype);

// --dtype of the commands that run a model.
Command::Dtype model_dtype();

// A prompt given as --prompt TEXT or --ids LIST; exactly one of them.
struct PromptOptions {
  std::string text, ids;

  void declare(Options& options);
  std::vector<int32_t> tokens(const RunnableModel& model, const std::string& command) const;
};

// --intervene, which may be there several times.
struct InterventionOptions {
  std::vector<std::string> texts;

  void declare(Options& options);

  // None if nothing was asked for: then no tap is watched.
  std::unique_ptr<Intervener> intervener(const RunnableModel& model) const;
};

}  // namespace sluice::cli
