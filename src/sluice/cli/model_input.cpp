#include "sluice/cli/model_input.h"

#include "sluice/base/error.h"
#include "sluice/cli/use_case.h"
#include "sluice/eval/calibration_text.h"
#include "sluice/text/token_ids.h"

namespace sluice::cli {

Command::Dtype model_dtype() {
  return {.text = "Weights in f32, bf16 or int8, whatever the file has (default: f32)",
          .words = {"f32", "bf16", "int8"}};
}

DType weight_type(const Session& session) {
  return session.options.dtype.empty() ? DType::F32 : sluice::weight_type(session.options.dtype);
}

void NonFiniteOption::declare(Options& options) {
  options.flag("--allow-nonfinite", allow,
               "Load weights that are NaN or infinite; without it they are refused");
}

void ModelInput::declare(Options& options) {
  options.argument(
      {.name = "MODEL", .value = "", .text = "A model directory, or a run's: its best checkpoint"},
      Presence::Required, path);
  options.text({.name = "--tokenizer",
                .value = "FILE|bytes",
                .text = "A tokenizer.json in place of the model's own; bytes: its tokens are the 256 bytes"},
               tokenizer);
  weights.declare(options);
}

LoadedModel ModelInput::open(Engine& engine, const Session& session) const {
  return {engine, path, options(weight_type(session)), job_control(session)};
}

void PromptOptions::declare(Options& options) {
  options.text({.name = "--prompt", .value = "TEXT", .text = "The text to start from"}, text);
  options.text({.name = "--ids", .value = "LIST", .text = "Token ids instead of a text: 1,2,3"}, ids);
}

std::vector<TokenId> PromptOptions::tokens(const LoadedModel& model, const std::string& command) const {
  if (text.empty() == ids.empty()) {
    throw usage_error({.where = command, .what = "give either --prompt or --ids"});
  }
  std::vector<TokenId> tokens = text.empty()
                                    ? parse_ids(ids, model.config().vocabulary, "--ids", ErrorKind::Usage)
                                    : model.encode(text);
  if (tokens.empty()) throw usage_error({.where = command, .what = "the prompt has no tokens"});
  return tokens;
}

void InterventionOptions::declare(Options& options) {
  options.repeated(
      {.name = "--intervene",
       .value = "SPEC",
       .text = "Change a value on its way, e.g. \"layers.3.attn.gate set=1 heads=0,2\": set=X, "
               "scale=X, shift=X, invert, noise=X, mean, head-mean, layer-mean, overall-mean, level=X, "
               "head-level=X or shuffle, for "
               "chosen heads=, channels=, experts=, positions="},
      texts);
  options.list({.name = "--calibration",
                .value = "FILE...",
                .text = "The text that means and shuffles come from: like the data, but not the data"},
               calibration);
}

std::vector<Intervention> InterventionOptions::interventions(const LoadedModel& model, int64_t tokens,
                                                             const Session& session) const {
  return calibrated_interventions(model, texts, {.files = calibration, .cut = {.tokens = tokens}},
                                  job_control(session));
}

}  // namespace sluice::cli
