#include <fmt/format.h>

#include "sluice/base/error.h"
#include "sluice/bench/ablate.h"
#include "sluice/bench/look.h"
#include "sluice/bench/model.h"
#include "sluice/bench/moe.h"
#include "sluice/bench/neighbour.h"
#include "sluice/bench/peaks.h"
#include "sluice/bench/rank_cost.h"
#include "sluice/bench/scale.h"
#include "sluice/bench/table.h"
#include "sluice/bench/tokenizer.h"
#include "sluice/bench/train.h"
#include "sluice/cli/bench_options.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/model_input.h"
#include "sluice/cli/use_case.h"
#include "sluice/serve/latency.h"

namespace sluice::cli {
namespace {

bench::TableRequest table_request(const BenchOptions& options, const Session& session) {
  return {.precision = session.options.dtype == "f32" ? Precision::F32 : Precision::Bf16,
          .shapes = options.case_shapes(),
          .repetitions = options.repetitions()};
}

bench::ModelRequest model_request(const BenchOptions& options, const Session& session) {
  return {.model = options.model,
          .dtype = weight_type(session),
          .tokens = options.tokens.value_or(0),
          .repetitions = options.repetitions(),
          .nonfinite = options.weights.nonfinite()};
}

bench::MoeRequest moe_request(const BenchOptions& options, const Session& session) {
  bench::MoeRequest request{.precision = session.options.dtype == "f32" ? Precision::F32 : Precision::Bf16,
                            .repetitions = options.repetitions()};
  const std::vector<bench::CaseShape> shapes = options.case_shapes();
  if (shapes.size() > 1) throw usage_error({.where = "bench moe", .what = "takes one --shape"});
  if (!shapes.empty()) {
    request.tokens = shapes.front().a;
    request.hidden = shapes.front().b;
    request.width = shapes.front().c;
  }
  return request;
}

// A run's configuration, or a default one that is made of the changes.
template <class Default>
RunConfig run_config(const BenchOptions& options, const Session& session, const Default& make) {
  std::vector<std::string> changes = options.changes;
  if (!session.options.dtype.empty()) changes.push_back(fmt::format("dtype={}", session.options.dtype));
  return options.model.empty() ? make(changes) : load_run_config(options.model, changes);
}

bench::ScaleRequest scale_request(const BenchOptions& options, const Session& session) {
  bench::ScaleRequest request{.config = run_config(options, session, bench::reproduction_config),
                              .repetitions = options.repetitions()};
  if (options.latency > 0) request.network.latency = options.latency * 1e-6;
  if (options.bandwidth > 0) request.network.bandwidth = options.bandwidth * 1e9;
  return request;
}

void run(const BenchOptions& options, const Session& session) {
  check(options, session.options);
  if (session.ranks.size() > 1 && options.what != "scale" && options.what != "ranks") {
    throw usage_error({.where = session.launch.by,
                       .what = fmt::format("bench {} runs in one process", options.what),
                       .hint = "bench scale and bench ranks take several"});
  }
  const JobControl control = job_control(session);
  Engine engine(session.options.engine());
  const auto print_table = [&](const auto& measure) {
    print_result(session, measure(engine, table_request(options, session), control));
  };
  const std::string& what = options.what;
  if (what == "peak") return print_result(session, bench::measure_peaks(engine, control));
  if (what == "gemm") return print_table(bench::measure_gemm);
  if (what == "attention") return print_table(bench::measure_attention);
  if (what == "ops") return print_table(bench::measure_ops);
  if (what == "moe")
    return print_result(session, bench::measure_moe(engine, moe_request(options, session), control));
  const auto config = [&](const auto& make) { return run_config(options, session, make); };
  const int repetitions = options.repetitions();
  if (what == "train") {
    return print_result(
        session, bench::measure_training(engine, {config(bench::reproduction_config), repetitions}, control));
  }
  if (what == "neighbour") {
    return print_result(
        session, bench::measure_neighbour(engine, {config(bench::neighbour_config), repetitions}, control));
  }
  if (what == "scale") {
    return print_result(
        session, bench::measure_scale(engine, session.ranks, scale_request(options, session), control));
  }
  if (what == "ranks") {
    return print_result(session,
                        bench::measure_rank_cost(engine, session.ranks,
                                                 {config(bench::reproduction_config), repetitions}, control));
  }
  if (what == "tokenizer") {
    return print_result(session,
                        bench::measure_tokenizer({options.model, options.data, repetitions}, control));
  }
  if (what == "look")
    return print_result(session, bench::measure_look(engine, model_request(options, session), control));
  if (what == "ablate") {
    return print_result(session, bench::measure_ablation(engine,
                                                         {.model = model_request(options, session),
                                                          .chunks = options.chunks.value_or(1),
                                                          .naive_runs = options.naive_runs.value_or(0),
                                                          .layers_only = options.layers_only},
                                                         control));
  }
  if (what == "explore") {
    return print_result(
        session, serve::measure_latency(
                     engine,
                     {.model = options.model,
                      .options = {.dtype = weight_type(session), .nonfinite = options.weights.nonfinite()},
                      .repetitions = static_cast<int>(options.repeat.value_or(20))},
                     control));
  }
  const auto measure_model = what == "prefill" ? bench::measure_prefill : bench::measure_decode;
  print_result(session, measure_model(engine, model_request(options, session), control));
}

}  // namespace

Command bench_command() {
  return {
      .name = "bench",
      .summary = "Measure speed, absolute and as a share of what this machine can do",
      .description =
          "Prints rates, medians of the repetitions, and each as a share of the peak that bounds it: "
          "arithmetic in registers or tiles for products, reads from memory for decode and most ops. The "
          "peak is measured before every repetition, on the same threads. Products are compared with "
          "OpenBLAS in f32 on the same shape. train takes whole steps on random tokens and counts three "
          "times the arithmetic of the forward pass: products with weights, and attention to earlier "
          "tokens. neighbour takes steps alone and beside a process that keeps one core busy, in turns, "
          "and tells how much slower the latter are. scale, under mpirun, takes steps on 1, 2, 4, ... of the "
          "ranks, the same batch on all (strong) and as large a one on each (weak), fits a model of the "
          "messages between them, and predicts steps on other networks. ranks takes steps on all ranks and "
          "in one process with their threads, in turns. moe runs 64 experts, 8 for each of "
          "512 tokens, in turns with one dense product of as many operations. ablate breaks a model in "
          "the ways of a plan, all gates, constants, layers and heads, once with runs that share what they "
          "have in common and once with each run on its own. explore asks an explorer on this machine for "
          "views of new prompts of 32, 256 and 1,024 tokens, for comparisons after a gate was moved and for "
          "maps, and prints the median and the 95th percentile of the time until the answer is there; what a "
          "browser takes to draw is not in it.",
      .examples = {"sluice bench peak", "sluice bench gemm --shape 4096x512x512",
                   "sluice bench attention --threads 1 --json", "sluice bench moe",
                   "sluice bench prefill path/to/model --dtype bf16 --json",
                   "sluice bench decode path/to/model --dtype int8",
                   "sluice bench look path/to/model --dtype bf16",
                   "sluice bench ablate path/to/model --dtype bf16 --layers-only --naive-runs 4",
                   "sluice bench explore path/to/model", "sluice bench train --json",
                   "sluice bench train tiny-elementwise --set batch_tokens=8192",
                   "sluice bench neighbour --json",
                   "mpirun -n 2 sluice bench scale --threads 1 --latency 2 --bandwidth 12.5",
                   "sluice bench tokenizer path/to/model --data wiki.txt"},
      .dtype = {.text = "Compute in f32 or bf16, for prefill, decode, look and explore also int8 (default: "
                        "bf16 in gemm, "
                        "attention, ops, moe, train, scale and neighbour, else f32)",
                .words = {"f32", "bf16", "int8"}},
      .processes = Processes::Ranks,
      .declare = [](Options& options) -> Action {
        auto target = std::make_shared<BenchOptions>();
        declare(options, *target);
        return [target](const Session& session) { run(*target, session); };
      }};
}

}  // namespace sluice::cli
