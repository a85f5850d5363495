// The main job from end to end on text that is made here: a tokenizer, a baseline and two gated models, and
// what tells them apart.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/base/atomic_file.h"
#include "sluice/base/error.h"
#include "sluice/base/file_system.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/demo_report.h"
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

DemoModel train_variant(const std::string& variant, const Request& request, const Corpus& corpus,
                        const Session& session) {
  const RunConfig config = run_config(variant, request.steps, session.options.dtype);
  const fs::path out = fs::path(request.out) / variant;
  const int64_t parameters = count_parameters(config.model).total();
  session.log.info("training {}: {} parameters, {} tokens", variant, parameters,
                   config.steps() * config.batch_tokens);
  const TrainingOutcome outcome = run_training(
      {.config = config, .shards = {TokenShard(corpus.tokens)}, .out = out, .tokenizer = corpus.tokenizer},
      session);
  if (outcome.end == RunEnd::Interrupted)
    throw Error(ErrorKind::Interrupted, {.what = "the demo was stopped"});
  return {.variant = variant,
          .parameters = parameters,
          .state = outcome.state,
          .figures = outcome.figures,
          .sample = outcome.figures.value("sample", ""),
          .metrics = read_metrics(out)};
}

std::string free_name() {
  std::error_code error;
  std::string name = "sluice-demo";
  for (int i = 2; fs::exists(name, error); ++i) name = fmt::format("sluice-demo-{}", i);
  return name;
}

void make_directory(const std::string& out) {
  check_can_fill(out);
  std::error_code error;
  fs::create_directories(out, error);
  if (error) throw system_failure(out, "cannot create", error);
}

void run(Request request, const Session& session) {
  if (request.out.empty()) request.out = free_name();
  make_directory(request.out);
  const Threads threads(session.options.threads);
  session.log.info("making {} MB of text and a tokenizer", kCorpusBytes / 1'000'000);
  const Corpus corpus = make_corpus(request.out, threads, load_model_config("demo-baseline").vocabulary);
  DemoReport report{.out = request.out, .prompt = kPrompt, .corpus = corpus.info};
  for (const char* variant : kVariants)
    report.models.push_back(train_variant(variant, request, corpus, session));
  write_demo_report(report);
  session.out << (session.options.json ? demo_json(report) : demo_text(report));
  session.log.info(
      "the report is in {0}/report.html (as text: report.txt), the curves in {0}/curves.svg, "
      "the figures in {0}/result.json",
      request.out);
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
          "gates, loss spikes, speed. Leaves report.html with the training curves, curves.svg, report.txt "
          "and "
          "result.json. Takes a few minutes.",
      .examples = {"sluice demo", "sluice demo --out my-demo --steps 1000"},
      .dtype = {.text = "Products in bf16 or f32 (default: bf16)", .words = {"f32", "bf16"}},
      .declare = declare_demo};
}

}  // namespace sluice::cli
