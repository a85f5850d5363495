#include "sluice/report/demo.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sluice/base/atomic_file.h"
#include "sluice/base/error.h"
#include "sluice/base/file_system.h"
#include "sluice/data/synth.h"
#include "sluice/data/tokenize.h"
#include "sluice/model/config_reader.h"
#include "sluice/model/count.h"
#include "sluice/text/tokenizer_writer.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

struct Corpus {
  fs::path text, tokenizer, tokens;
  TokenShardInfo info;
};

constexpr int64_t kCorpusBytes = 4'000'000;
constexpr const char* kPrompt = "Petra was a careful";
constexpr const char* kVariants[] = {"baseline", "headwise", "elementwise"};

void write_text(const fs::path& path) {
  AtomicFile file(path);
  int64_t bytes = 0;
  const auto kinds = all_text_kinds();
  for (uint64_t i = 0; bytes < kCorpusBytes; ++i) {
    const std::string text = synth_document({.kind = kinds[i % kinds.size()], .seed = 1, .index = i});
    file.write(nlohmann::ordered_json{{"text", text}}.dump() + "\n");
    bytes += static_cast<int64_t>(text.size());
  }
  file.commit();
}

Corpus make_corpus(const fs::path& out, const Threads& threads, int64_t vocabulary) {
  Corpus corpus{out / "corpus.jsonl", out / "tokenizer.json", out / "corpus.tokens", {}};
  write_text(corpus.text);
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

RunConfig run_config(const std::string& variant, const DemoRequest& request) {
  const int64_t steps = request.steps;
  RunConfig config;
  config.trainer.precision = request.precision;
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

// The observer, with everything noted in `metrics` besides.
RunObserver recording(const RunObserver& observer, RunMetrics& metrics) {
  return {.started = observer.started,
          .stepped =
              [&](const StepResult& result, const RunState& state) {
                metrics.add(result, state);
                if (observer.stepped) observer.stepped(result, state);
              },
          .validated =
              [&](const Validation& validation) {
                metrics.add(validation);
                if (observer.validated) observer.validated(validation);
              }};
}

void make_directory(const fs::path& out) {
  check_can_fill(out);
  std::error_code error;
  fs::create_directories(out, error);
  if (error) throw system_failure(out, "cannot create", error);
}

}  // namespace

DemoResult run_demo(Engine& engine, const DemoRequest& request, const JobControl& control,
                    const DemoObserver& observer) {
  make_directory(request.out);
  if (observer.corpus_begins) observer.corpus_begins(kCorpusBytes);
  const Corpus corpus =
      make_corpus(request.out, engine.threads(), load_model_config("demo-baseline").vocabulary);
  DemoResult result{.out = request.out, .prompt = kPrompt, .corpus = corpus.info};
  for (const char* variant : kVariants) {
    const RunConfig config = run_config(variant, request);
    DemoModel model{.variant = variant, .parameters = count_parameters(config.model).total()};
    if (observer.model_begins)
      observer.model_begins({variant, model.parameters, config.steps() * config.batch_tokens});
    model.outcome = run_training(engine,
                                 {.config = config,
                                  .shards = {TokenShard(corpus.tokens)},
                                  .out = request.out / variant,
                                  .tokenizer = corpus.tokenizer.string()},
                                 control, recording(observer.run, model.metrics));
    if (model.outcome.end == RunEnd::Interrupted)
      throw Error(ErrorKind::Interrupted, {.what = "the demo was stopped"});
    result.models.push_back(std::move(model));
  }
  return result;
}

}  // namespace sluice
