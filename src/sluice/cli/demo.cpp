// The main job from end to end on text that is made here: a tokenizer, a baseline and two gated models, and
// what tells them apart.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/base/atomic_file.h"
#include "sluice/base/error.h"
#include "sluice/base/file_system.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/training.h"
#include "sluice/data/synth.h"
#include "sluice/data/tokenize.h"
#include "sluice/model/config_reader.h"
#include "sluice/model/count.h"
#include "sluice/text/tokenizer_writer.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct Request {
  std::string out;  // empty: the first of sluice-demo, sluice-demo-2, … that does not exist
  int steps = 300;
};

struct Corpus {
  fs::path text, tokenizer, tokens;
  TokenShardInfo info;
};

constexpr int64_t kCorpusBytes = 4'000'000;
constexpr const char* kPrompt = "Petra was a careful";
constexpr const char* kVariants[] = {"baseline", "headwise", "elementwise"};

Corpus make_corpus(const fs::path& out, const Threads& threads, int64_t vocabulary) {
  Corpus corpus{out / "corpus.jsonl", out / "tokenizer.json", out / "corpus.tokens", {}};
  AtomicFile file(corpus.text);
  int64_t bytes = 0;
  const auto kinds = all_text_kinds();
  for (uint64_t i = 0; bytes < kCorpusBytes; ++i) {
    const std::string text = synth_document({.kind = kinds[i % kinds.size()], .seed = 1, .index = i});
    file.write(ordered_json{{"text", text}}.dump() + "\n");
    bytes += static_cast<int64_t>(text.size());
  }
  file.commit();
  const std::vector<std::string> special = {"<|endoftext|>"};
  WordCounter counter({.special = special}, threads);
  counter.add_file(corpus.text);
  const TrainedBpe trained =
      train_bpe(counter.words(), {.tokens = vocabulary - std::ssize(special)}, threads);
  write_file_atomically(corpus.tokenizer, tokenizer_json(trained, WordPattern::Qwen, special));
  const Tokenizer tokenizer = Tokenizer::load(corpus.tokenizer);
  corpus.info = tokenize_files(
      tokenizer,
      {.files = {corpus.text.string()}, .out = corpus.tokens, .end_of_text = end_of_text_of(tokenizer)},
      threads);
  return corpus;
}

RunConfig run_config(const std::string& variant, int64_t steps, const std::string& dtype) {
  RunConfig config;
  if (dtype == "f32") config.trainer.precision = Precision::F32;
  config.model = load_model_config("demo-" + variant);
  config.sequence = 128;
  config.batch_tokens = config.pass_tokens = 2048;
  config.seed = 1;
  config.trainer.schedule = {.peak = 3e-3, .warmup = steps / 10, .steps = steps};
  config.validation = {.share = 0.02, .every = std::max<int64_t>(1, steps / 6), .sequences = 32};
  config.checkpoints = {.every = std::max<int64_t>(1, steps / 3), .keep = 1};
  config.sample = {.prompt = kPrompt, .tokens = 40};
  return config;
}

struct Result {
  std::string variant;
  int64_t parameters = 0;
  TrainingOutcome outcome;

  double number(const char* key) const { return outcome.figures.value(key, std::nan("")); }
  std::string sample() const { return outcome.figures.value("sample", ""); }

  ordered_json json() const {
    const RunState& state = outcome.state;
    return {{"variant", variant},
            {"parameters", parameters},
            {"steps", state.step},
            {"tokens", state.tokens},
            {"validation", outcome.figures},
            {"spikes", state.spikes},
            {"timing", {{"tokens_per_s", outcome.tokens_per_s()}, {"seconds", state.seconds}}}};
  }
};

Result train_variant(const std::string& variant, const Request& request, const Corpus& corpus,
                     const Session& session) {
  const RunConfig config = run_config(variant, request.steps, session.options.dtype);
  const int64_t parameters = count_parameters(config.model).total();
  session.log.info("training {}: {} parameters, {} tokens", variant, parameters,
                   config.steps() * config.batch_tokens);
  const TrainingOutcome outcome = run_training({.config = config,
                                                .shards = {TokenShard(corpus.tokens)},
                                                .out = fs::path(request.out) / variant,
                                                .tokenizer = corpus.tokenizer},
                                               session);
  if (outcome.end == RunEnd::Interrupted)
    throw Error(ErrorKind::Interrupted, {.what = "the demo was stopped"});
  return {.variant = variant, .parameters = parameters, .outcome = outcome};
}

std::string cell(double value, const char* format) {
  return std::isnan(value) ? "-" : fmt::format(fmt::runtime(format), value);
}

std::string table(const std::vector<Result>& results) {
  std::string text =
      fmt::format("{:<13}{:>11}{:>10}{:>9}{:>9}{:>9}{:>11}{:>9}{:>8}{:>11}\n", "model", "parameters",
                  "val. ppl", "sink", "floor", "max act", "gate mean", "< 0.1", "spikes", "tokens/s");
  for (const Result& each : results) {
    text += fmt::format(
        "{:<13}{:>11}{:>10}{:>9}{:>9}{:>9}{:>11}{:>9}{:>8}{:>11.0f}\n", each.variant, each.parameters,
        cell(each.number("validation_ppl"), "{:.3f}"), cell(each.number("sink"), "{:.4f}"),
        cell(each.number("sink_floor"), "{:.4f}"), cell(each.number("max_activation"), "{:.2f}"),
        cell(each.number("gate_mean"), "{:.4f}"), cell(each.number("gate_below_0.1"), "{:.4f}"),
        each.outcome.state.spikes, each.outcome.tokens_per_s());
  }
  return text;
}

std::string story(const std::vector<Result>& results, const Corpus& corpus, const std::string& out) {
  std::string text = table(results);
  text += fmt::format(
      "\nn: validation on {} sequences of {} tokens of the same synthetic text; sink, activation and gates "
      "on 4 of "
      "them; one run each, so small differences mean nothing.\nsink: mean attention on the first token, "
      "beside what "
      "uniform attention gives. max act: largest |block output|, mean over layers.\nCorpus: {} documents, {} "
      "tokens.\n",
      results.front().outcome.figures.value("sequences", 0),
      results.front().outcome.figures.value("length", 0), corpus.info.documents, corpus.info.tokens);
  for (const Result& each : results) text += fmt::format("\n[{}] {}\n", each.variant, each.sample());
  text += fmt::format(
      "\nNext:\n  sluice generate {0}/elementwise/latest --prompt \"{1}\" --temperature 0.8\n"
      "  sluice eval {0}/elementwise/latest --data {0}/corpus.jsonl\n"
      "  sluice eval {0}/elementwise/latest --data {0}/corpus.jsonl --intervene \"attn.gate set=1\"\n"
      "  sluice trace {0}/headwise/latest --prompt \"{1}\" --out {0}/trace.safetensors\n",
      out, kPrompt);
  return text;
}

std::string free_name() {
  std::error_code error;
  std::string name = "sluice-demo";
  for (int i = 2; fs::exists(name, error); ++i) name = fmt::format("sluice-demo-{}", i);
  return name;
}

void run(Request request, const Session& session) {
  if (request.out.empty()) request.out = free_name();
  check_can_fill(request.out);
  std::error_code error;
  fs::create_directories(request.out, error);
  if (error) throw system_failure(request.out, "cannot create", error);
  const Threads threads(session.options.threads);
  session.log.info("making {} MB of text and a tokenizer", kCorpusBytes / 1'000'000);
  const Corpus corpus = make_corpus(request.out, threads, load_model_config("demo-baseline").vocabulary);
  std::vector<Result> results;
  ordered_json json = ordered_json::array();
  for (const char* variant : kVariants) {
    results.push_back(train_variant(variant, request, corpus, session));
    json.push_back(results.back().json());
  }
  const ordered_json whole = {{"out", request.out}, {"models", json}};
  const std::string text = whole.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  write_file_atomically(fs::path(request.out) / "result.json", text);
  const std::string told = story(results, corpus, request.out);
  write_file_atomically(fs::path(request.out) / "report.txt", told);
  session.out << (session.options.json ? text : told);
  session.log.info("the report is in {}/report.txt, the figures in {}/result.json", request.out, request.out);
}

Action declare_demo(Options& options) {
  auto request = std::make_shared<Request>();
  options.text({.name = "--out",
                .value = "DIR",
                .text = "Where everything goes (default: sluice-demo, or sluice-demo-2 and so on)"},
               request->out);
  options.integer({.name = "--steps",
                   .value = "N",
                   .text = "Training steps of each model (default: 300)",
                   .low = 1,
                   .high = 1000000},
                  request->steps);
  return [request](const Session& session) { run(*request, session); };
}

}  // namespace

Command demo_command() {
  return {
      .name = "demo",
      .summary = "Train a baseline and gated models on made-up text and compare them",
      .description =
          "Makes a corpus, trains a tokenizer, a baseline, a headwise and an elementwise gated model of the "
          "same size on it, and shows what tells them apart: perplexity, attention sink, massive activation, "
          "gates, loss spikes, speed. Takes a few minutes.",
      .examples = {"sluice demo", "sluice demo --out my-demo --steps 1000"},
      .dtype = {.text = "Products in bf16 or f32 (default: bf16)", .words = {"f32", "bf16"}},
      .declare = declare_demo};
}

}  // namespace sluice::cli
