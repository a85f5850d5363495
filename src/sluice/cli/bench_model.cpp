// bench prefill and bench decode: a model's speed beside the machine's peaks.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/base/system.h"
#include "sluice/cli/bench.h"
#include "sluice/cli/bench_measure.h"
#include "sluice/cli/model_input.h"
#include "sluice/cli/peaks.h"
#include "sluice/infer/generator.h"
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
    if (!row) bytes += named.parameter->value.bytes();
  }
  return static_cast<double>(bytes);
}

double weight_bytes(const Decoder& decoder) {
  size_t bytes = 0;
  for (const NamedParameter& named : decoder.parameters()) bytes += named.parameter->value.bytes();
  return static_cast<double>(bytes);
}

// A part of bench on a model, measured.
struct ModelBench {
  const BenchRequest& request;
  const Session& session;
  const RunnableModel& model;
  int64_t tokens;  // per repetition
  Work work;
  Measured measured = {};
  int64_t resident = 0;     // bytes at most
  MachinePeaks peaks = {};  // on one core, too

  const Engine& engine() const { return *model.engine; }
  double tokens_per_second() const { return static_cast<double>(tokens) / measured.seconds; }
  double rate() const { return work.amount / measured.seconds / 1e9; }
};

void print_text(const ModelBench& bench) {
  const int threads = bench.engine().threads().count();
  const auto resident = static_cast<double>(bench.resident);
  bench.session.out << fmt::format("{:<16}{:.2f} tokens/s ({} tokens, {} threads, median of {})\n",
                                   bench.request.what, bench.tokens_per_second(), bench.tokens, threads,
                                   bench.request.repetitions())
                    << fmt::format("{:<16}{:.1f} {}, {:.2f} of the peak\n", "rate", bench.rate(),
                                   bench.work.bound.unit, bench.measured.share)
                    << fmt::format("{:<16}{:.2f} GB resident at most, {:.2f} times the weights\n", "memory",
                                   resident / 1e9, resident / weight_bytes(*bench.model.decoder))
                    << peaks_text(bench.peaks, threads);
}

void print_json(const ModelBench& bench) {
  const std::string& dtype = bench.session.options.dtype;
  const nlohmann::ordered_json json = {{"what", bench.request.what},
                                       {"model", bench.model.path},
                                       {"dtype", dtype.empty() ? "f32" : dtype},
                                       {"isa", name_of(bench.engine().isa().isa)},
                                       {"threads", bench.engine().threads().count()},
                                       {"tokens", bench.tokens},
                                       {"repetitions", bench.request.repetitions()},
                                       {"tokens_per_s", rounded(bench.tokens_per_second())},
                                       {"rate", rounded(bench.rate())},
                                       {"unit", bench.work.bound.unit},
                                       {"share", rounded(bench.measured.share)},
                                       {"share_of", bench.work.bound.name},
                                       {"weight_bytes", weight_bytes(*bench.model.decoder)},
                                       {"peak_resident_bytes", bench.resident},
                                       {"peaks", peaks_json(bench.peaks)}};
  bench.session.out << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

void report(ModelBench bench) {
  Engine& engine = *bench.model.engine;
  bench.work.seconds();  // brings the weights into memory
  // Before the peaks: their buffers are not the model's.
  bench.resident = peak_resident_bytes();
  PeakMeter meter = peak_meter(engine);
  bench.measured = measure(meter, bench.work, bench.request.repetitions());
  bench.peaks = measure_peaks(peak_kernels(engine.isa().isa), engine.threads(), engine.pool());
  bench.session.options.json ? print_json(bench) : print_text(bench);
}

}  // namespace

void bench_prefill(const BenchRequest& request, const Session& session) {
  const RunnableModel model = open_model(session, request.model);
  const ModelConfig& config = model.decoder->config();
  const int64_t tokens = request.tokens.value_or(512);
  const std::vector<int32_t> prompt = some_prompt(tokens, config.vocabulary);
  const Precision precision = session.options.dtype == "bf16" ? Precision::Bf16 : Precision::F32;
  Generator generator(model.context(), *model.decoder);
  report({.request = request,
          .session = session,
          .model = model,
          .tokens = tokens,
          .work = {.amount = prefill_flops(config, tokens),
                   .bound = arithmetic_bound(*model.engine, precision),
                   .seconds = [&] { return generator.generate(prompt, {.max_tokens = 1}).prompt_seconds; }}});
}

void bench_decode(const BenchRequest& request, const Session& session) {
  const RunnableModel model = open_model(session, request.model);
  const std::vector<int32_t> prompt = some_prompt(8, model.decoder->config().vocabulary);
  // The first new token comes out of the prompt's pass and is not decoded.
  const int64_t decoded = request.tokens.value_or(32) - 1;
  Generator generator(model.context(), *model.decoder);
  report({.request = request,
          .session = session,
          .model = model,
          .tokens = decoded,
          .work = {.amount = bytes_per_token(*model.decoder) * static_cast<double>(decoded),
                   .bound = memory_bound(),
                   .seconds = [&] {
                     return generator.generate(prompt, {.max_tokens = decoded + 1}).decode_seconds;
                   }}});
}

}  // namespace sluice::cli
