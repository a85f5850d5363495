#include "sluice/ablate/ablation.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "sluice/ablate/ablation_analysis.h"
#include "sluice/ablate/ablation_forecast.h"
#include "sluice/ablate/ablation_preparation.h"
#include "sluice/ablate/broken_samples.h"
#include "sluice/ablate/calibrated_means.h"
#include "sluice/ablate/plan_runner.h"
#include "sluice/ablate/plan_target.h"
#include "sluice/ablate/run_effect.h"
#include "sluice/ablate/shared_chunks.h"
#include "sluice/analysis/model_names.h"
#include "sluice/base/error.h"
#include "sluice/base/permutation.h"
#include "sluice/model/count.h"
#include "sluice/model/model_checksum.h"

namespace sluice {
namespace {

// What the runs of one model share.
struct AblationJob {
  const AblationRequest& request;
  const StoppingRule& rule;
  AblationLog& log;
  int64_t number;  // of the model
  const JobControl& control;
  const SharedChunks* shared = nullptr;  // none: all chunks are run here
  bool with_samples = true;
};

// Some runs of a plan on one text: what the log has is taken from there.
class LoggedText {
 public:
  LoggedText(const AblationJob& job, int64_t number, const PreparedText& text, const PlanRunner& runner)
      : job_(job), number_(number), text_(text), runner_(runner) {}

  Rounds run(std::vector<size_t> runs) {
    if (job_.shared != nullptr) {
      first_run_ = static_cast<int64_t>(runs.front());
      const Permutation order(static_cast<uint64_t>(text_.evaluated), Random(job_.request.seed));
      for (int64_t i = 0; i < text_.evaluated; ++i)
        coming_.push_back(static_cast<int64_t>(order(static_cast<uint64_t>(i))));
    }
    return run_rounds(
        {.runs = std::move(runs),
         .chunks = text_.evaluated,
         .seed = job_.request.seed,
         .rule = job_.rule,
         .coverage = job_.request.coverage},
        [&](int64_t chunk, std::span<const size_t> some) { return measure(chunk, some); }, job_.control);
  }

 private:
  LogKey key(int64_t chunk, int64_t run) const { return {job_.number, number_, chunk, run}; }

  MeasuredChunk measure(int64_t chunk, std::span<const size_t> runs) {
    if (job_.shared != nullptr) fetch(chunk, runs);
    std::vector<size_t> missing;
    for (const size_t run : runs)
      if (!job_.log.find(key(chunk, static_cast<int64_t>(run))) && !copy_equal(chunk, run))
        missing.push_back(run);
    if (!missing.empty() || !job_.log.find(key(chunk, LogKey::kBase))) compute(chunk, missing);
    MeasuredChunk measured{.base = *job_.log.find(key(chunk, LogKey::kBase))};
    for (const size_t run : runs)
      measured.runs.push_back(*job_.log.find(key(chunk, static_cast<int64_t>(run))));
    return measured;
  }

  // Runs that rest by the time of a later chunk rest for good: what is run ahead is at least what is needed.
  void fetch(int64_t chunk, std::span<const size_t> runs) {
    coming_.erase(coming_.begin(), std::ranges::find(coming_, chunk));
    job_.log.append(job_.shared->get(
        {.model = job_.number, .text = number_, .first_run = first_run_}, coming_,
        [&](int64_t some) {
          return entries_of(some, {runs.begin(), runs.end()});
        },
        job_.control));
  }

  // An equal run of an earlier part is measured already: the first heads closed are heads that were closed.
  bool copy_equal(int64_t chunk, size_t run) {
    const auto measured = job_.log.find(key(chunk, static_cast<int64_t>(runner_.first_equal(run))));
    if (!measured) return false;
    const LogEntry same{key(chunk, static_cast<int64_t>(run)), *measured};
    job_.log.append(std::span(&same, 1));
    return true;
  }

  void compute(int64_t chunk, const std::vector<size_t>& runs) {
    std::vector<LogEntry> entries = entries_of(chunk, runs);
    if (job_.log.find(entries.front().key)) entries.erase(entries.begin());
    job_.log.append(entries);
  }

  // The unbroken model's, then those of the runs.
  std::vector<LogEntry> entries_of(int64_t chunk, const std::vector<size_t>& runs) const {
    const PlanRunner::ChunkResult result =
        runner_.measure(text_.text.chunk(chunk), chunk, runs, job_.control);
    std::vector<LogEntry> entries = {{key(chunk, LogKey::kBase), result.base}};
    for (size_t i = 0; i < runs.size(); ++i)
      entries.push_back({key(chunk, static_cast<int64_t>(runs[i])), result.runs[i]});
    return entries;
  }

  const AblationJob& job_;
  int64_t number_;
  const PreparedText& text_;
  const PlanRunner& runner_;
  int64_t first_run_ = 0;
  std::vector<int64_t> coming_ = {};  // of shared chunks: in the order of the rounds, from the next on
};

void add_base(AblatedText& text, std::span<const RunMeasures> base) {
  std::vector<ChunkNll> nlls;
  text.base_sink = text.base_activation = 0;
  text.base_by_chunk.clear();
  for (const RunMeasures& chunk : base) {
    nlls.push_back(chunk.nll);
    text.base_by_chunk.push_back(chunk.nll.sum / static_cast<double>(chunk.nll.tokens));
    text.base_sink += chunk.sink / static_cast<double>(base.size());
    text.base_activation += chunk.largest_activation / static_cast<double>(base.size());
  }
  text.base = perplexity(nlls);
}

class ModelAblation {
 public:
  ModelAblation(const LoadedModel& model, const PreparedAblation& prepared, const AblationJob& job)
      : model_(model), prepared_(prepared), job_(job) {}

  AblatedModel run() {
    describe();
    if (job_.request.estimates != EstimateUse::None && result_.gated) add_estimates();
    if (job_.request.estimates == EstimateUse::Instead) return std::move(result_);
    result_.plan = prepared_.plan;
    run_from(0);
    if (result_.plan.then) run_what_follows(*result_.plan.then);
    add_samples();
    return std::move(result_);
  }

 private:
  void describe() {
    const ModelConfig& config = model_.config();
    result_.path = model_.path().string();
    result_.parameters = count_parameters(config).total();
    result_.layers = config.layers;
    result_.heads = config.heads;
    result_.gated = gate_tap(config).has_value();
    result_.gates = prepared_.gates;
    for (size_t i = 0; i < prepared_.texts.size(); ++i) {
      const PreparedText& text = prepared_.texts[i];
      result_.texts.push_back({.name = job_.request.texts[i].name,
                               .chunks = text.evaluated,
                               .chunk_length = text.text.chunk_length,
                               .checksum = checksum_of(text.text),
                               .calibration = text.calibration_name,
                               .warnings = text.warnings});
    }
  }

  // The runs of the plan from `first` on, on all texts.
  void run_from(size_t first) {
    std::vector<size_t> runs;
    for (size_t i = first; i < result_.plan.runs.size(); ++i) runs.push_back(i);
    if (runs.empty()) return;
    for (size_t i = 0; i < prepared_.texts.size(); ++i) {
      const PreparedText& text = prepared_.texts[i];
      const PlanRunner runner(model_, result_.plan,
                              plan_calibration(model_, result_.plan, text.calibration, job_.control),
                              {.memory = job_.request.memory});
      const Rounds rounds = LoggedText(job_, static_cast<int64_t>(i), text, runner).run(runs);
      AblatedText& ablated = result_.texts[i];
      for (const MeasuredRun& measured : rounds.runs)
        ablated.effects.push_back(effect_of({measured.chunks, rounds.base}, job_.rule));
      if (std::ssize(rounds.base) > seen_[i]) add_base(ablated, rounds.base);
      seen_[i] = std::max(seen_[i], std::ssize(rounds.base));
    }
  }

  void add_estimates() {
    const PreparedText& text = prepared_.texts.front();
    GateEstimateRequest estimated{.text = text.text,
                                  .actions = {GateAction::Open, GateAction::Close, GateAction::Mean},
                                  .means = calibrated_means(model_, text.calibration, job_.control),
                                  .steps = job_.request.estimate_steps};
    const Permutation order(static_cast<uint64_t>(text.evaluated), Random(job_.request.seed));
    for (int64_t i = 0; i < std::min(job_.request.estimate_chunks, text.evaluated); ++i)
      estimated.chunks.push_back(static_cast<int64_t>(order(static_cast<uint64_t>(i))));
    result_.estimates = estimate_gates(model_, estimated, job_.control);
  }

  void add_heads() {
    const std::vector<int64_t> layers = layers_by_effect(result_, result_.plan.then->layers);
    if (layers.empty()) return;
    job_.control.info("{}: heads of layers {}, which matter most on {}", result_.path,
                      fmt::join(layers, ", "), result_.texts.front().name);
    std::vector<PlannedRun> heads =
        heads_that_follow(result_.plan, IndexSet::parse(index_text(layers)), model_.config());
    std::ranges::move(heads, std::back_inserter(result_.plan.runs));
  }

  void add_first_heads() {
    std::vector<HeadPlace> ranking;
    const char* action = result_.gated ? "closed" : "zeroed";
    for (const PlaceEffect& place : ranked(effect_profile(result_, result_.texts.front(), "heads", action)))
      ranking.push_back({place.layer, place.head.value()});
    std::vector<PlannedRun> runs = first_heads(ranking, model_.config());
    std::ranges::move(runs, std::back_inserter(result_.plan.runs));
  }

  void run_what_follows(const HeadsThatFollow& then) {
    const bool in_order = then.first_heads;
    size_t first = result_.plan.runs.size();
    if (then.layers > 0) add_heads();
    run_from(first);
    first = result_.plan.runs.size();
    if (in_order) add_first_heads();
    run_from(first);
  }

  void add_samples() {
    if (!job_.with_samples || job_.request.sample_tokens == 0 || !model_.has_tokenizer()) return;
    const PreparedText& text = prepared_.texts.front();
    const std::shared_ptr<const Calibration> calibration =
        plan_calibration(model_, result_.plan, text.calibration, job_.control);
    add_broken_samples(result_, model_,
                       {.prompt = job_.request.prompt,
                        .beginning = text.text.chunk(0).ids,
                        .tokens = job_.request.sample_tokens,
                        .calibration = calibration},
                       job_.control);
  }

  const LoadedModel& model_;
  const PreparedAblation& prepared_;
  const AblationJob& job_;
  AblatedModel result_;
  std::vector<int64_t> seen_ = std::vector<int64_t>(prepared_.texts.size());  // chunks of each text
};

// All models, one after the other; a single one is kept.
struct CheckedModels {
  JobIdentity identity;
  int64_t comparisons = 0;
  std::unique_ptr<LoadedModel> only = {};
  std::vector<PreparedAblation> prepared = {};  // by model
};

// Everything that may be wrong with any of them comes before the first remark.
void prepare_models(Engine& engine, const AblationRequest& request, const JobControl& control,
                    CheckedModels& checked) {
  for (const std::string& path : request.models) {
    auto model = std::make_unique<LoadedModel>(engine, path, request.options, control);
    checked.prepared.push_back(prepare_ablation(*model, request, control));
    if (request.models.size() == 1) checked.only = std::move(model);
  }
}

void tell_what_is_seen(const AblationRequest& request, size_t number, const PreparedAblation& prepared,
                       const JobControl& control) {
  const std::string& model = request.models[number];
  if (const std::string words = left_out_words(request, prepared.config); !words.empty())
    control.info("{}: {}", model, words);
  for (size_t t = 0; t < request.texts.size(); ++t)
    control.info("{}: {} chunks of {} to see; calibrated on {}", request.texts[t].name,
                 prepared.texts[t].evaluated, model, prepared.texts[t].calibration_name);
}

CheckedModels check_models(Engine& engine, const AblationRequest& request, const JobControl& control) {
  check_ablation(request);
  CheckedModels checked{.identity = identity_of(request, engine)};
  prepare_models(engine, request, control, checked);
  std::set<std::string> warned;             // what holds for several models is said once
  std::map<uint32_t, std::string> weights;  // whose they are, by their checksum
  for (size_t i = 0; i < request.models.size(); ++i) {
    PreparedAblation& prepared = checked.prepared[i];
    tell_what_is_seen(request, i, prepared, control);
    tell_warnings(prepared.texts, warned, control);
    std::unique_ptr<LoadedModel> loaded;
    if (!checked.only)
      loaded = std::make_unique<LoadedModel>(engine, request.models[i], request.options, control);
    complete_plan(prepared, loaded ? *loaded : *checked.only, request, control);
    warn_of_memory(request.models[i], request, prepared, control);
    prepared.weights = checksum_of_source(request.models[i]);
    add_identity(checked.identity, i, prepared);
    if (prepared.weights)
      if (const auto [same, is_new] = weights.try_emplace(*prepared.weights, request.models[i]); !is_new)
        control.warn("{} has the same weights as {}", request.models[i], same->second);
    checked.comparisons += comparisons_of(request, prepared);
  }
  return checked;
}

// All models, with what is shared or logged taken from there.
AblationResult run_models(Engine& engine, CheckedModels& checked, const AblationJob& shared) {
  const AblationRequest& request = shared.request;
  AblationResult result{.rule = shared.rule, .coverage = request.coverage, .seed = request.seed};
  const std::vector<std::string> names = names_of_models(request.models);
  for (size_t i = 0; i < names.size(); ++i) {
    std::unique_ptr<LoadedModel> loaded;
    if (!checked.only)
      loaded = std::make_unique<LoadedModel>(engine, request.models[i], request.options, shared.control);
    const LoadedModel& model = loaded ? *loaded : *checked.only;
    AblationJob job = shared;
    job.number = static_cast<int64_t>(i);
    result.models.push_back(ModelAblation(model, checked.prepared[i], job).run());
    result.models.back().name = names[i];
  }
  return result;
}

// A failure for the directory of one process, before anything is read: its log is not for others.
void check_can_share(const std::filesystem::path& out) {
  if (AblationLog::is_in(out))
    throw failure({.where = out.string(),
                   .what = "holds an ablation of one process",
                   .hint = "--resume goes on with it, without --join"});
  check_holds_nothing_else(out);
}

// Every process goes through all rounds, most of them by what others have measured.
AblationResult run_shared(Engine& engine, CheckedModels& checked, AblationJob job) {
  const AblationRequest& request = job.request;
  const bool begins = request.start == LogStart::New && !request.sharing.job.empty();
  const PieceFolder folder = open_pieces(request.out, begins ? request.sharing.job : "",
                                         {.kind = "an ablation", .can_be_joined_anyhow = false});
  folder.join("ablation", checked.identity);
  const SharedChunks chunks(folder, checked.identity);
  job.shared = &chunks;
  const ResultWork<AblationResult> steps{.work =
                                             [&](bool collects) {
                                               job.with_samples = collects;
                                               return run_models(engine, checked, job);
                                             },
                                         .publish = request.publish};
  std::optional<AblationResult> result = collect(folder, request.sharing.job, steps, job.control);
  return result ? *std::move(result) : AblationResult{.is_elsewhere = true};
}

}  // namespace

AblationResult run_ablation(Engine& engine, const AblationRequest& request, const JobControl& control) {
  // What several processes have begun is resumed from their pieces, also by one alone.
  const bool resumes = request.start == LogStart::Resume && !AblationLog::is_in(request.out);
  const bool shares = request.sharing.joins || (resumes && has_pieces(request.out));
  if (shares) check_can_share(request.out);
  if (!shares && (request.start == LogStart::New || !AblationLog::is_in(request.out)))
    AblationLog::check_is_free(request.out);
  CheckedModels checked = check_models(engine, request, control);
  StoppingRule rule = request.rule;
  rule.comparisons = std::max<int64_t>(checked.comparisons, 1);
  AblationLog log;
  if (!shares) log = AblationLog(request.out, checked.identity, request.start, control);
  const AblationJob job{request, rule, log, 0, control};
  if (shares) return run_shared(engine, checked, job);
  AblationResult result = run_models(engine, checked, job);
  if (request.publish) request.publish(result);
  return result;
}

}  // namespace sluice
