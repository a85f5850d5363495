// bench prefill and bench decode: a model's speed beside the machine's peaks.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/base/system.h"
#include "sluice/cli/bench.h"
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

MachinePeaks peaks_of(const RunnableModel& model) {
  Engine& engine = *model.engine;
  return measure_peaks(peak_kernels(engine.isa().isa), engine.threads(), engine.pool());
}

struct Share {
  const char* of;     // "f32_gflops"
  const char* unit;   // "GFLOP/s"
  double rate, peak;  // per second
};

struct Measured {
  const BenchRequest& request;
  int64_t tokens;
  double tokens_per_s;
  int64_t resident;  // at most, bytes; taken before the peaks are measured, whose buffers are not the model's
  Share share;
  MachinePeaks peaks;
};

void print(const Session& session, const RunnableModel& model, const Measured& measured) {
  const Share& share = measured.share;
  const double weights = weight_bytes(*model.decoder);
  const auto resident = static_cast<double>(measured.resident);
  const std::string dtype = session.options.dtype.empty() ? "f32" : session.options.dtype;
  const int threads = model.engine->threads().count();
  if (session.options.json) {
    const nlohmann::ordered_json json = {{"what", measured.request.what},
                                         {"model", model.path},
                                         {"dtype", dtype},
                                         {"isa", name_of(model.engine->isa().isa)},
                                         {"threads", threads},
                                         {"tokens", measured.tokens},
                                         {"repetitions", measured.request.repeat},
                                         {"tokens_per_s", rounded(measured.tokens_per_s)},
                                         {"rate", rounded(share.rate / 1e9)},
                                         {"unit", share.unit},
                                         {"share", rounded(share.rate / share.peak)},
                                         {"share_of", share.of},
                                         {"weight_bytes", weights},
                                         {"peak_resident_bytes", resident},
                                         {"peaks", peaks_json(measured.peaks)}};
    session.out << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    return;
  }
  session.out << fmt::format("{:<16}{:.2f} tokens/s ({} tokens, {}, {} threads, median of {})\n",
                             measured.request.what, measured.tokens_per_s, measured.tokens, dtype, threads,
                             measured.request.repeat)
              << fmt::format("{:<16}{:.1f} {}, {:.2f} of the peak\n", "rate", share.rate / 1e9, share.unit,
                             share.rate / share.peak)
              << fmt::format("{:<16}{:.2f} GB resident at most, {:.2f} times the weights\n", "memory",
                             resident / 1e9, resident / weights)
              << peaks_text(measured.peaks, threads);
}

}  // namespace

void bench_prefill(const BenchRequest& request, const Session& session) {
  const RunnableModel model = open_model(session, request.model);
  const ModelConfig& config = model.decoder->config();
  const int64_t tokens = request.tokens > 0 ? request.tokens : 512;
  const std::vector<int32_t> prompt = some_prompt(tokens, config.vocabulary);
  Generator generator(model.context(), *model.decoder);
  generator.generate(std::span(prompt).first(2), {.max_tokens = 1});  // brings the weights into memory
  std::vector<double> seconds;
  for (int i = 0; i < request.repeat; ++i)
    seconds.push_back(generator.generate(prompt, {.max_tokens = 1}).prompt_seconds);
  const double typical = median(seconds);
  const int64_t resident = peak_resident_bytes();
  const MachinePeaks peaks = peaks_of(model);
  const bool tiles = peaks.bf16_flops && session.options.dtype == "bf16";
  print(session, model,
        {.request = request,
         .tokens = tokens,
         .tokens_per_s = static_cast<double>(tokens) / typical,
         .resident = resident,
         .share = {.of = tiles ? "amx_bf16_gflops" : "f32_gflops",
                   .unit = "GFLOP/s",
                   .rate = prefill_flops(config, tokens) / typical,
                   .peak = tiles ? peaks.bf16_flops->all_threads : peaks.f32_flops.all_threads},
         .peaks = peaks});
}

void bench_decode(const BenchRequest& request, const Session& session) {
  const RunnableModel model = open_model(session, request.model);
  const int64_t tokens = request.tokens > 0 ? request.tokens : 32;
  const std::vector<int32_t> prompt = some_prompt(8, model.decoder->config().vocabulary);
  Generator generator(model.context(), *model.decoder);
  generator.generate(prompt, {.max_tokens = 1});
  std::vector<double> seconds;
  for (int i = 0; i < request.repeat; ++i) {
    const Generation made = generator.generate(prompt, {.max_tokens = tokens});
    // The first token comes out of the prompt's pass.
    seconds.push_back(made.decode_seconds / static_cast<double>(tokens - 1));
  }
  const double typical = median(seconds);
  const int64_t resident = peak_resident_bytes();
  const MachinePeaks peaks = peaks_of(model);
  print(session, model,
        {.request = request,
         .tokens = tokens,
         .tokens_per_s = 1.0 / typical,
         .resident = resident,
         .share = {.of = "read_gb_per_s",
                   .unit = "GB/s",
                   .rate = bytes_per_token(*model.decoder) / typical,
                   .peak = peaks.read_bandwidth.all_threads},
         .peaks = peaks});
}

}  // namespace sluice::cli
