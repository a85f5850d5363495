// bench prefill and bench decode: a model's speed beside the machine's peaks.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/cli/bench/bench.h"
#include "sluice/cli/bench/tokens.h"
#include "sluice/cli/model_input.h"
#include "sluice/cli/peaks.h"
#include "sluice/infer/generator.h"
#include "sluice/model/checkpoint.h"
#include "sluice/model/count.h"

namespace sluice::cli {
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

double weight_bytes(const Decoder& decoder) {
  size_t bytes = 0;
  for (const NamedParameter& named : decoder.parameters()) bytes += bytes_of(*named.parameter);
  return static_cast<double>(bytes);
}

// No tokenizer: the prompts are made of ids.
struct BenchedModel {
  BenchedModel(const BenchRequest& request, const Session& session)
      : path(request.model),
        engine(session.options.engine()),
        decoder(load_model(engine, path, weight_type(session))) {}

  std::string path;
  Engine engine;
  std::unique_ptr<Decoder> decoder;
};

void report(BenchedModel& model, const TokenBench& bench, const Session& session) {
  const TokenRates rates = measure_tokens(model.engine, bench);
  const double weights = weight_bytes(*model.decoder);
  if (session.options.json) {
    nlohmann::ordered_json json = {{"what", bench.what},
                                   {"model", model.path},
                                   {"dtype", weight_type_name(weight_type(session))},
                                   {"isa", name_of(model.engine.isa().isa)},
                                   {"weight_bytes", weights}};
    json.update(rates_json(bench, rates));
    session.out << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    return;
  }
  const auto resident = static_cast<double>(rates.resident);
  session.out << rates_text(bench, rates)
              << fmt::format("{:<16}{:.2f} GB resident at most, {:.2f} times the weights\n", "memory",
                             resident / 1e9, resident / weights)
              << peaks_text(rates.peaks, rates.threads);
}

}  // namespace

void bench_prefill(const BenchRequest& request, const Session& session) {
  BenchedModel model(request, session);
  PackedWeights packed;
  const ModelConfig& config = model.decoder->config();
  const int64_t tokens = request.tokens.value_or(512);
  const std::vector<int32_t> prompt = some_prompt(tokens, config.vocabulary);
  const Precision precision = session.options.dtype == "bf16" ? Precision::Bf16 : Precision::F32;
  Generator generator(Context{model.engine}.with_packed(&packed), *model.decoder);
  report(model,
         {.what = request.what,
          .tokens = tokens,
          .repetitions = request.repetitions(),
          .work = {.amount = prefill_flops(config, tokens),
                   .bound = arithmetic_bound(model.engine, precision),
                   .seconds = [&] { return generator.generate(prompt, {.max_tokens = 1}).prompt_seconds; }}},
         session);
}

void bench_decode(const BenchRequest& request, const Session& session) {
  BenchedModel model(request, session);
  const std::vector<int32_t> prompt = some_prompt(8, model.decoder->config().vocabulary);
  // The first new token comes out of the prompt's pass and is not decoded.
  const int64_t decoded = request.tokens.value_or(32) - 1;
  Generator generator(Context{model.engine}, *model.decoder);
  report(
      model,
      {.what = request.what,
       .tokens = decoded,
       .repetitions = request.repetitions(),
       .work = {.amount = bytes_per_token(*model.decoder) * static_cast<double>(decoded),
                .bound = memory_bound(),
                .seconds =
                    [&] { return generator.generate(prompt, {.max_tokens = decoded + 1}).decode_seconds; }}},
      session);
}

}  // namespace sluice::cli
