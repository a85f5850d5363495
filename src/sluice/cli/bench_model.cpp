// bench prefill and bench decode: a model's speed beside the machine's peaks.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/base/interrupt.h"
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

// What a rate is compared with.
struct Bound {
  const char* name;  // as in the JSON of the peaks
  const char* unit;
  std::function<double(const MachinePeaks&)> peak;  // per second, on all threads
};

Bound arithmetic(const Session& session, const Engine& engine) {
  if (engine.isa().isa == Isa::Amx && session.options.dtype == "bf16") {
    return {"amx_bf16_gflops", "GFLOP/s",
            [](const MachinePeaks& peaks) { return peaks.bf16_flops->all_threads; }};
  }
  return {"f32_gflops", "GFLOP/s", [](const MachinePeaks& peaks) { return peaks.f32_flops.all_threads; }};
}

Bound memory() {
  return {"read_gb_per_s", "GB/s",
          [](const MachinePeaks& peaks) { return peaks.read_bandwidth.all_threads; }};
}

struct Work {
  int64_t tokens;  // per repetition
  double amount;   // operations or bytes per repetition
  Bound bound;
  std::function<double()> seconds;  // does a repetition
};

struct Measured {
  double seconds = 0, share = 0;  // medians
  int64_t resident = 0;           // bytes at most
  MachinePeaks peaks = {};        // of the last repetition
};

// Peaks are measured beside every repetition: what else the machine does then slows both.
Measured measure(const RunnableModel& model, const Work& work, int repetitions) {
  Engine& engine = *model.engine;
  Measured measured;
  work.seconds();  // brings the weights into memory
  // Before the peaks: their buffers are not the model's.
  measured.resident = peak_resident_bytes();
  std::vector<double> seconds, shares;
  for (int i = 0; i < repetitions; ++i) {
    throw_if_interrupted();
    measured.peaks = measure_peaks(peak_kernels(engine.isa().isa), engine.threads(), engine.pool());
    seconds.push_back(work.seconds());
    shares.push_back(work.amount / seconds.back() / work.bound.peak(measured.peaks));
  }
  measured.seconds = median(seconds);
  measured.share = median(shares);
  return measured;
}

void print_text(const BenchRequest& request, const Session& session, const RunnableModel& model,
                const Work& work, const Measured& measured) {
  const int threads = model.engine->threads().count();
  const auto resident = static_cast<double>(measured.resident);
  session.out << fmt::format("{:<16}{:.2f} tokens/s ({} tokens, {} threads, median of {})\n", request.what,
                             static_cast<double>(work.tokens) / measured.seconds, work.tokens, threads,
                             request.repeat)
              << fmt::format("{:<16}{:.1f} {}, {:.2f} of the peak\n", "rate",
                             work.amount / measured.seconds / 1e9, work.bound.unit, measured.share)
              << fmt::format("{:<16}{:.2f} GB resident at most, {:.2f} times the weights\n", "memory",
                             resident / 1e9, resident / weight_bytes(*model.decoder))
              << peaks_text(measured.peaks, threads);
}

void print_json(const BenchRequest& request, const Session& session, const RunnableModel& model,
                const Work& work, const Measured& measured) {
  const nlohmann::ordered_json json = {
      {"what", request.what},
      {"model", model.path},
      {"dtype", session.options.dtype.empty() ? "f32" : session.options.dtype},
      {"isa", name_of(model.engine->isa().isa)},
      {"threads", model.engine->threads().count()},
      {"tokens", work.tokens},
      {"repetitions", request.repeat},
      {"tokens_per_s", rounded(static_cast<double>(work.tokens) / measured.seconds)},
      {"rate", rounded(work.amount / measured.seconds / 1e9)},
      {"unit", work.bound.unit},
      {"share", rounded(measured.share)},
      {"share_of", work.bound.name},
      {"weight_bytes", weight_bytes(*model.decoder)},
      {"peak_resident_bytes", measured.resident},
      {"peaks", peaks_json(measured.peaks)}};
  session.out << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

void report(const BenchRequest& request, const Session& session, const RunnableModel& model,
            const Work& work) {
  const Measured measured = measure(model, work, request.repeat);
  const auto print = session.options.json ? print_json : print_text;
  print(request, session, model, work, measured);
}

}  // namespace

void bench_prefill(const BenchRequest& request, const Session& session) {
  const RunnableModel model = open_model(session, request.model);
  const ModelConfig& config = model.decoder->config();
  const int64_t tokens = request.tokens > 0 ? request.tokens : 512;
  const std::vector<int32_t> prompt = some_prompt(tokens, config.vocabulary);
  Generator generator(model.context(), *model.decoder);
  report(request, session, model,
         {.tokens = tokens,
          .amount = prefill_flops(config, tokens),
          .bound = arithmetic(session, *model.engine),
          .seconds = [&] { return generator.generate(prompt, {.max_tokens = 1}).prompt_seconds; }});
}

void bench_decode(const BenchRequest& request, const Session& session) {
  const RunnableModel model = open_model(session, request.model);
  const std::vector<int32_t> prompt = some_prompt(8, model.decoder->config().vocabulary);
  // The first new token comes out of the prompt's pass and is not decoded.
  const int64_t decoded = (request.tokens > 0 ? request.tokens : 32) - 1;
  Generator generator(model.context(), *model.decoder);
  report(request, session, model,
         {.tokens = decoded,
          .amount = bytes_per_token(*model.decoder) * static_cast<double>(decoded),
          .bound = memory(),
          .seconds = [&] { return generator.generate(prompt, {.max_tokens = decoded + 1}).decode_seconds; }});
}

}  // namespace sluice::cli
