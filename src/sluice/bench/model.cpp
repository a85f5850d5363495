#include "sluice/bench/model.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sluice/bench/figures.h"
#include "sluice/infer/generator.h"
#include "sluice/infer/positions.h"
#include "sluice/model/count.h"

namespace sluice::bench {
namespace {

std::vector<int32_t> some_prompt(int64_t tokens, int64_t vocabulary) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < tokens; ++i) ids.push_back(static_cast<int32_t>(i * 7919 % vocabulary));
  return ids;
}

// Only the last token's logits are computed: the output layer counts once.
double prefill_flops(const ModelConfig& config, int64_t tokens) {
  const FlopCount flops = count_flops(config);
  const auto n = static_cast<double>(tokens);
  const double head = 2.0 * static_cast<double>(config.vocabulary) * static_cast<double>(config.hidden);
  const double products = n * (static_cast<double>(flops.products) - head) + head;
  return products + static_cast<double>(flops.per_context_token) * n * (n + 1) / 2;
}

// What one token reads: every weight once. Of an embedding that is not also the output layer it reads a row.
double bytes_per_token(const Decoder& decoder) {
  size_t bytes = 0;
  for (const NamedParameter& named : decoder.parameters()) {
    const bool row = named.parameter->name == "model.embed_tokens.weight" && !decoder.config().tied;
    if (!row) bytes += bytes_of(*named.parameter);
  }
  return static_cast<double>(bytes);
}

std::unique_ptr<Decoder> loaded(Engine& engine, const ModelRequest& request, const JobControl& control) {
  return Checkpoint(request.model, request.nonfinite, control).load(engine, request.dtype);
}

ModelSpeed speed_of(const char* what, const ModelRequest& request, const Engine& engine,
                    const Decoder& decoder) {
  return {.what = what,
          .model = request.model,
          .dtype = request.dtype,
          .isa = engine.isa().isa,
          .weight_bytes = weight_bytes(decoder)};
}

}  // namespace

int64_t weight_bytes(const Decoder& decoder) {
  size_t bytes = 0;
  for (const NamedParameter& named : decoder.parameters()) bytes += bytes_of(*named.parameter);
  return static_cast<int64_t>(bytes);
}

ModelSpeed measure_prefill(Engine& engine, const ModelRequest& request, const JobControl& control) {
  const std::unique_ptr<Decoder> decoder = loaded(engine, request, control);
  const ModelConfig& config = decoder->config();
  const int64_t tokens = request.tokens == 0 ? 512 : request.tokens;
  warn_beyond_positions(config, "the prompt has", tokens, control);
  const std::vector<int32_t> prompt = some_prompt(tokens, config.vocabulary);
  const Precision precision = request.dtype == DType::BF16 ? Precision::Bf16 : Precision::F32;
  Generator generator(Context{engine}.with_packing(Packing::Keep), *decoder);
  ModelSpeed speed = speed_of("prefill", request, engine, *decoder);
  speed.rate = measure_tokens(
      engine,
      {.tokens = tokens,
       .repetitions = request.repetitions,
       .work = {.amount = prefill_flops(config, tokens),
                .bound = arithmetic_bound(engine, precision),
                .seconds = [&] { return generator.generate(prompt, {.max_tokens = 1}).prompt_seconds; }}},
      control);
  return speed;
}

ModelSpeed measure_decode(Engine& engine, const ModelRequest& request, const JobControl& control) {
  const std::unique_ptr<Decoder> decoder = loaded(engine, request, control);
  const std::vector<int32_t> prompt = some_prompt(8, decoder->config().vocabulary);
  const int64_t generated = request.tokens == 0 ? 32 : request.tokens;
  SLUICE_ASSERT(generated > 1, "measure_decode: {} new tokens, of which the first is not decoded", generated);
  warn_beyond_positions(decoder->config(), "the prompt and the new tokens have",
                        std::ssize(prompt) + generated, control);
  Generator generator(Context{engine}, *decoder);
  const auto seconds = [&] { return generator.generate(prompt, {.max_tokens = generated}).decode_seconds; };
  ModelSpeed speed = speed_of("decode", request, engine, *decoder);
  speed.rate =
      measure_tokens(engine,
                     {.tokens = generated - 1,
                      .repetitions = request.repetitions,
                      .work = {.amount = bytes_per_token(*decoder) * static_cast<double>(generated - 1),
                               .bound = memory_bound(),
                               .seconds = seconds}},
                     control);
  return speed;
}

nlohmann::ordered_json to_json(const ModelSpeed& speed) {
  nlohmann::ordered_json json = {{"what", speed.what},
                                 {"model", speed.model.string()},
                                 {"dtype", speed.dtype == DType::I8 ? "int8" : name_of(speed.dtype)},
                                 {"isa", name_of(speed.isa)},
                                 {"weight_bytes", speed.weight_bytes}};
  json.update(to_json(speed.rate));
  return json;
}

std::string to_text(const ModelSpeed& speed) {
  const auto resident = static_cast<double>(speed.rate.resident);
  return to_text(speed.rate, speed.what) +
         line("memory", fmt::format("{:.2f} GB resident at most, {:.2f} times the weights", resident / 1e9,
                                    resident / static_cast<double>(speed.weight_bytes)));
}

}  // namespace sluice::bench
