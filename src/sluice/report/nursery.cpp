#include "sluice/report/nursery.h"

#include <fmt/format.h>

#include "sluice/base/error.h"
#include "sluice/base/stopwatch.h"
#include "sluice/data/synth_corpus.h"
#include "sluice/data/tokenize.h"
#include "sluice/model/count.h"
#include "sluice/report/nursery_findings.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

// As sluice experiment makes the text of the stored seeds, so that the demo's run is one of them.
constexpr uint64_t kChainSeed = 1;
constexpr int64_t kDocuments = 40'000;

constexpr int64_t kLookedAt = 200;  // held-out sequences
constexpr int64_t kMapTokens = 64;  // of the one that is drawn

// With the usual steps it is the preset itself; a shorter run has everything shorter.
RunConfig nursery_config(const std::string& variant, int64_t steps) {
  return load_run_config(variant,
                         {fmt::format("steps={}", steps), fmt::format("schedule.warmup={}", steps / 15),
                          fmt::format("validation.every={}", std::max<int64_t>(1, steps / 6)),
                          fmt::format("checkpoints.every={}", std::max<int64_t>(1, steps / 3))});
}

struct NurseryRun {
  const NurseryRequest& request;
  const JobControl& control;
  const DemoObserver& observer;
};

NurseryModel train_in_nursery(Engine& engine, const std::string& variant, const NurseryRun& run) {
  const RunConfig config = nursery_config(variant, run.request.steps);
  if (run.observer.model_begins)
    run.observer.model_begins(
        {variant, count_parameters(config.model).total(), config.steps() * config.batch_tokens});
  NurseryModel model{.variant = variant, .seed = static_cast<int>(config.seed)};
  model.outcome = run_training(engine,
                               {.config = config,
                                .shards = {TokenShard(run.request.text.tokens)},
                                .out = run.request.out / variant,
                                .tokenizer = "bytes"},
                               run.control, run.observer.run);
  if (model.outcome.end == RunEnd::Interrupted)
    throw Error(ErrorKind::Interrupted, {.what = "the demo was stopped"});
  model.metrics = read_metrics(model.outcome.directory);
  return model;
}

// The weights that the last validation saw, whether or not an earlier one was better.
fs::path last_weights(const NurseryModel& model) {
  return model.outcome.directory / "latest";
}

ModelComparison look_at(Engine& engine, const std::vector<NurseryModel>& models, const JobControl& control) {
  StudyRequest request{.models = {},
                       .source = HeldOutText{},
                       .chunks = {.at_most = kLookedAt},
                       .text = TextMatch::Same,
                       .prompt = StudyRequest::Prompt{.tokens = kMapTokens, .map_heads = true}};
  for (const NurseryModel& model : models) request.models.push_back(last_weights(model).string());
  Study study = study_models(engine, request, control);
  for (size_t i = 0; i < models.size(); ++i) study.models[i].name = models[i].variant;
  return compare_models(std::move(study));
}

}  // namespace

NurseryText make_nursery_text(const fs::path& out, const Threads& threads, const JobControl& control,
                              const DemoObserver& observer) {
  if (observer.nursery_begins) observer.nursery_begins(kDocuments);
  const fs::path text = out / "nursery.jsonl", tokens = out / "nursery.tokens";
  write_synth_corpus({.out = text,
                      .seed = kChainSeed,
                      .documents = kDocuments,
                      .backcopy_letters = BackcopyChain::kUsualLetters},
                     control);
  const Tokenizer bytes = Tokenizer::bytes();
  return {
      kChainSeed, tokens,
      tokenize_files(bytes, {.files = {text.string()}, .out = tokens, .end_of_text = end_of_text_of(bytes)},
                     threads, control)};
}

NurseryResult run_nursery(Engine& engine, const NurseryRequest& request, const JobControl& control,
                          const DemoObserver& observer) {
  const Stopwatch watch;
  NurseryResult result{
      .pair = request.pair, .seeds = request.seeds, .out = request.out, .text = request.text};
  for (const std::string& variant : {request.pair.baseline(), request.pair.gated()}) {
    result.models.push_back(
        train_in_nursery(engine, variant, {.request = request, .control = control, .observer = observer}));
    NurseryModel& model = result.models.back();
    const LoadedModel trained(engine, last_weights(model));
    model.score = score_backcopy(trained, {.seed = request.text.chain_seed}, control);
  }
  result.looked = look_at(engine, result.models, control);
  result.seconds = watch.seconds();
  if (observer.nursery_ended) observer.nursery_ended(request.pair.title, nursery_answer(result).text);
  return result;
}

}  // namespace sluice
