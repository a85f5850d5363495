#include "sluice/cli/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
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

enum class Takes { Model, Config, Tokens, Repeat, Data, Shape };

struct Part {
  const char* name;
  const char* text;
  std::vector<Takes> takes;  // a model, where one is taken, is required; a configuration is not
  void (*run)(const BenchRequest&, const Session&);
};

const std::vector<Part> kParts = {
    {"peak", "arithmetic and memory", {}, [](const auto&, const Session& session) { bench_peak(session); }},
    {"gemm", "products of a layer", {Takes::Repeat, Takes::Shape}, bench_gemm},
    {"attention", "", {Takes::Repeat, Takes::Shape}, bench_attention},
    {"ops", "what is bounded by memory", {Takes::Repeat, Takes::Shape}, bench_ops},
    {"prefill", "of a model", {Takes::Model, Takes::Tokens, Takes::Repeat}, bench_prefill},
    {"decode", "of a model", {Takes::Model, Takes::Tokens, Takes::Repeat}, bench_decode},
    {"train", "whole steps", {Takes::Config, Takes::Repeat}, bench_train},
    {"tokenizer", "", {Takes::Model, Takes::Repeat, Takes::Data}, bench_tokenizer}};

std::vector<std::string> part_names() {
  std::vector<std::string> names;
  for (const Part& part : kParts) names.emplace_back(part.name);
  return names;
}

std::string parts_text() {
  std::string text;
  for (const Part& part : kParts) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", part.name);
    if (*part.text != '\0') text += fmt::format(" ({})", part.text);
  }
  return text;
}

void check(const Part& part, const BenchRequest& request, const Session& session) {
  const auto takes = [&](Takes what) { return std::ranges::find(part.takes, what) != part.takes.end(); };
  const auto refuse_unless = [&](bool taken, bool given, const char* name) {
    if (!given || taken) return;
    throw usage_error(
        {.where = fmt::format("bench {}", part.name), .what = fmt::format("takes no {}", name)});
  };
  refuse_unless(takes(Takes::Model) || takes(Takes::Config), !request.model.empty(), "model");
  refuse_unless(takes(Takes::Tokens), request.tokens.has_value(), "--tokens");
  refuse_unless(takes(Takes::Tokens), session.options.dtype == "int8", "--dtype int8");
  refuse_unless(takes(Takes::Repeat), request.repeat.has_value(), "--repeat");
  refuse_unless(takes(Takes::Data), !request.data.empty(), "--data");
  refuse_unless(takes(Takes::Shape), !request.shapes.empty(), "--shape");
  refuse_unless(takes(Takes::Config), !request.changes.empty(), "--set");
  if (request.model.empty() && takes(Takes::Model)) {
    throw usage_error({.where = fmt::format("bench {}", part.name),
                       .what = "a model is missing",
                       .hint = "sluice init makes one with random weights"});
  }
}

void run(const BenchRequest& request, const Session& session) {
  const auto part = std::ranges::find(kParts, request.what, [](const Part& each) { return each.name; });
  check(*part, request, session);
  part->run(request, session);
}

Action declare_bench(Options& options) {
  auto request = std::make_shared<BenchRequest>();
  options.argument({.name = "WHAT", .value = "", .text = parts_text(), .words = part_names()},
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
  options.repeated(
      {.name = "--shape",
       .value = "AxBxC",
       .text = "Instead of the usual shapes, may be repeated: MxNxK (gemm), heads x tokens x head "
               "size (attention), tokens x hidden x vocabulary (ops)"},
      request->shapes);
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
          "same threads: arithmetic in registers or tiles for products, reads from memory for decode and "
          "most ops. OpenBLAS stands beside products with its f32 rate for the same shape. train takes whole "
          "steps on random tokens; of its arithmetic, products with weights count three times their "
          "forward pass, and so does attention to the tokens before.",
      .examples = {"sluice bench peak", "sluice bench gemm --shape 4096x512x512",
                   "sluice bench attention --threads 1 --json",
                   "sluice bench prefill path/to/model --dtype bf16 --json",
                   "sluice bench decode path/to/model --dtype int8", "sluice bench train --json",
                   "sluice bench train configs/runs/tiny-elementwise.json --set batch_tokens=8192",
                   "sluice bench tokenizer path/to/model --data wiki.txt"},
      .dtype = {.text = "Compute in f32 or bf16, for prefill and decode also int8 (default: bf16 in gemm, "
                        "attention, ops and train, else f32)",
                .words = {"f32", "bf16", "int8"}},
      .declare = declare_bench};
}

}  // namespace sluice::cli
