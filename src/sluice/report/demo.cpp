#include "sluice/report/demo.h"

#include <iterator>

#include "sluice/base/error.h"
#include "sluice/base/file_system.h"
#include "sluice/data/synth_corpus.h"
#include "sluice/data/tokenize.h"
#include "sluice/data/tokenizer_training.h"
#include "sluice/model/config_reader.h"
#include "sluice/model/count.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

struct Corpus {
  fs::path text, tokenizer, tokens;
  TokenShardInfo info;
};

constexpr int64_t kCorpusBytes = 4'000'000;
constexpr int64_t kNurseryShare = 5;  // steps of the nursery for one of the text's models: 1,500 for 300
constexpr const char* kPrompt = "Petra was a careful";
constexpr const char* kVariants[] = {"baseline", "headwise", "elementwise"};

Corpus make_corpus(const fs::path& out, int64_t vocabulary, const Threads& threads,
                   const JobControl& control) {
  Corpus corpus{out / "corpus.jsonl", out / "tokenizer.json", out / "corpus.tokens", {}};
  const std::vector<std::string> files = {corpus.text.string()};
  write_synth_corpus({.out = corpus.text, .seed = 1, .bytes = kCorpusBytes}, control);
  train_tokenizer({.files = files, .out = corpus.tokenizer, .vocabulary = vocabulary}, threads, control);
  const Tokenizer tokenizer = Tokenizer::load(corpus.tokenizer);
  corpus.info = tokenize_files(
      tokenizer, {.files = files, .out = corpus.tokens, .end_of_text = end_of_text_of(tokenizer)}, threads,
      control);
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
  // What suits the baseline (docs/results/fair-start.md), which is then not behind for where it starts.
  config.init.residual_by_depth = true;
  config.trainer.schedule = {.peak = 4e-3, .warmup = steps / 10, .steps = steps};
  config.validation = {
      .share = 0.02, .every = std::max<int64_t>(1, steps / 6), .sequences = 32, .seed = config.seed};
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

std::vector<NurseryResult> run_nurseries(Engine& engine, const DemoRequest& request,
                                         const JobControl& control, const DemoObserver& observer) {
  std::vector<NurseryRequest> pairs;
  for (const NurseryPair& pair : kNurseryPairs)
    pairs.push_back({.pair = pair,
                     .seeds = stored_seeds(pair),
                     .text = {},
                     .out = request.out,
                     .steps = kNurseryShare * request.steps});
  const NurseryText text = make_nursery_text(request.out, engine.threads(), control, observer);
  std::vector<NurseryResult> nurseries;
  for (NurseryRequest& pair : pairs) {
    pair.text = text;
    nurseries.push_back(run_nursery(engine, pair, control, observer));
  }
  return nurseries;
}

void make_directory(const fs::path& out) {
  check_can_fill(out);
  std::error_code error;
  fs::create_directories(out, error);
  if (error) throw system_failure(out, "cannot create", error);
}

}  // namespace

std::vector<fs::path> demo_models(const fs::path& demo) {
  std::vector<std::string> names;
  for (const NurseryPair& pair : {kNurseryPairs[1], kNurseryPairs[0]})
    names.insert(names.end(), {pair.baseline(), pair.gated()});
  names.insert(names.end(), std::begin(kVariants), std::end(kVariants));
  std::vector<fs::path> found;
  std::error_code none;
  for (const std::string& name : names)
    if (fs::exists(demo / name, none)) found.push_back(demo / name);
  return found;
}

DemoResult run_demo(Engine& engine, const DemoRequest& request, const JobControl& control,
                    const DemoObserver& observer) {
  make_directory(request.out);
  std::vector<NurseryResult> nurseries = run_nurseries(engine, request, control, observer);
  if (observer.corpus_begins) observer.corpus_begins(kCorpusBytes);
  const Corpus corpus =
      make_corpus(request.out, load_model_config("demo-baseline").vocabulary, engine.threads(), control);
  DemoResult result{
      .out = request.out, .prompt = kPrompt, .corpus = corpus.info, .nurseries = std::move(nurseries)};
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
  if (observer.breaking_begins) observer.breaking_begins();
  result.broken = break_demo(engine, request.out, kPrompt, control);
  return result;
}

}  // namespace sluice
