#include "sluice/cli/model_input.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/cli/token_ids.h"
#include "sluice/model/checkpoint.h"

namespace sluice::cli {

namespace {

DType kept_type(const std::string& name) {
  if (name == "bf16") return DType::BF16;
  return name == "int8" ? DType::I8 : DType::F32;
}

}  // namespace

RunnableModel open_model(const Session& session, const std::string& path) {
  return open_model(session, path, session.options.dtype);
}

RunnableModel open_model(const Session& session, const std::string& path, const std::string& dtype) {
  auto engine = std::make_unique<Engine>(session.options.engine());
  auto decoder = load_model(*engine, path, kept_type(dtype));
  Tokenizer tokenizer = Tokenizer::load(path);
  return {path, std::move(engine), std::move(decoder), std::move(tokenizer)};
}

Command::Dtype model_dtype() {
  return {.text = "Weights in f32, bf16 or int8, whatever the file has (default: f32)",
          .words = {"f32", "bf16", "int8"}};
}

std::vector<int32_t> RunnableModel::encode(std::string_view text) const {
  std::vector<int32_t> ids = tokenizer.encode(text);
  const auto outside =
      std::ranges::find_if(ids, [&](int32_t id) { return id >= decoder->config().vocabulary; });
  if (outside != ids.end()) {
    throw bad_input({.where = path,
                     .what = "the tokenizer does not fit the model",
                     .expected = fmt::format("token ids below {}", decoder->config().vocabulary),
                     .got = std::to_string(*outside)});
  }
  return ids;
}

void PromptOptions::declare(Options& options) {
  options.text({.name = "--prompt", .value = "TEXT", .text = "The text to start from"}, text);
  options.text({.name = "--ids", .value = "LIST", .text = "Token ids instead of a text: 1,2,3"}, ids);
}

std::vector<int32_t> PromptOptions::tokens(const RunnableModel& model, const std::string& command) const {
  if (text.empty() == ids.empty()) {
    throw usage_error({.where = command, .what = "give either --prompt or --ids"});
  }
  std::vector<int32_t> tokens =
      text.empty() ? parse_ids(ids, model.decoder->config().vocabulary, "--ids", ErrorKind::Usage)
                   : model.encode(text);
  if (tokens.empty()) throw usage_error({.where = command, .what = "the prompt has no tokens"});
  return tokens;
}

void InterventionOptions::declare(Options& options) {
  options.repeated(
      {.name = "--intervene",
       .value = "SPEC",
       .text = "Change a value on its way, e.g. \"layers.3.attn.gate set=1 heads=0,2\": set=X, "
               "scale=X, shift=X, mean, shuffle or invert, for chosen heads=, channels=, positions="},
      texts);
}

std::unique_ptr<Intervener> InterventionOptions::intervener(const RunnableModel& model) const {
  if (texts.empty()) return nullptr;
  std::vector<Intervention> interventions;
  for (const std::string& text : texts)
    interventions.push_back(parse_intervention(text, model.decoder->config()));
  return std::make_unique<Intervener>(std::move(interventions));
}

}  // namespace sluice::cli
