#include "sluice/cli/bench.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/base/error.h"
#include "sluice/base/interrupt.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/peaks.h"

namespace sluice::cli {
namespace {

void bench_peak(const Session& session) {
  Engine engine(session.options.engine());
  const MachinePeaks peaks = measure_peaks(peak_kernels(engine.isa().isa), engine.threads(), engine.pool());
  throw_if_interrupted();
  const int threads = engine.threads().count();
  if (session.options.json) {
    nlohmann::ordered_json json = {{"isa", name_of(engine.isa().isa)}, {"threads", threads}};
    json.update(peaks_json(peaks));
    session.out << json.dump(2) << '\n';
  } else {
    session.out << peaks_text(peaks, threads);
  }
}

void run(const BenchRequest& request, const Session& session) {
  if (!request.changes.empty() && request.what != "train") {
    throw usage_error({.where = fmt::format("bench {}", request.what), .what = "takes no --set"});
  }
  if (request.what == "peak") {
    if (!request.model.empty())
      throw usage_error({.where = "bench peak", .what = "takes no model", .got = request.model});
    return bench_peak(session);
  }
  if (request.what == "train") return bench_train(request, session);
  if (request.model.empty()) {
    throw usage_error({.where = "bench " + request.what,
                       .what = "a model is missing",
                       .hint = "sluice init makes one with random weights"});
  }
  if (request.what == "prefill") return bench_prefill(request, session);
  if (request.what == "decode") return bench_decode(request, session);
  bench_tokenizer(request, session);
}

Action declare_bench(Options& options) {
  auto request = std::make_shared<BenchRequest>();
  options.argument({.name = "WHAT",
                    .value = "",
                    .text = "peak (arithmetic and memory), prefill, decode, train, tokenizer",
                    .words = {"peak", "prefill", "decode", "train", "tokenizer"}},
                   Presence::Required, request->what);
  options.argument({.name = "MODEL",
                    .value = "",
                    .text = "A model directory; for tokenizer its file; for train a run's configuration "
                            "(default: the 51M reproduction, 8 x 512 tokens)"},
                   Presence::Optional, request->model);
  options.integer({.name = "--tokens",
                   .value = "N",
                   .text = "Tokens of the prompt (prefill, default: 512) or new ones (decode, default: 32)",
                   .low = 2,
                   .high = 1 << 20},
                  request->tokens);
  options.integer({.name = "--repeat",
                   .value = "N",
                   .text = "Repetitions, of which the median is shown (default: 5)",
                   .low = 1,
                   .high = 1000},
                  request->repeat);
  options.list({.name = "--data", .value = "FILE...", .text = "Text for the tokenizer to encode"},
               request->data);
  options.repeated({.name = "--set", .value = "A.B=V", .text = "Change a value of train's configuration"},
                   request->changes);
  return [request](const Session& session) { run(*request, session); };
}

}  // namespace

Command bench_command() {
  return {
      .name = "bench",
      .summary = "Measure speed, absolute and as a share of what this machine can do",
      .description =
          "Rates are medians of repetitions. Shares refer to the peaks that the same run measures on the "
          "same threads: arithmetic in registers or tiles for prefill and train, reads from memory for "
          "decode. train takes whole steps on random tokens; of its arithmetic, products with weights "
          "count three times their forward pass, and so does attention to the tokens before.",
      .examples = {"sluice bench peak", "sluice bench prefill path/to/model --dtype bf16 --json",
                   "sluice bench decode path/to/model --dtype bf16", "sluice bench train --dtype bf16 --json",
                   "sluice bench train configs/runs/tiny-elementwise.json --set batch_tokens=8192",
                   "sluice bench tokenizer path/to/model --data wiki.txt"},
      .dtype = {.text = "Compute in f32 or bf16 (default: f32; train: as the configuration says)"},
      .declare = declare_bench};
}

}  // namespace sluice::cli
