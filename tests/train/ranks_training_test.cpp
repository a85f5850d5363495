// Several ranks, here as threads, train as one does.
#include <mutex>
#include <nlohmann/json.hpp>

#include "sluice/data/random_batch.h"
#include "sluice/train/training_plan.h"
#include "sluice/train/training_ranks.h"
#include "tests/dist/thread_ranks.h"
#include "tests/train/runs.h"

namespace sluice {
namespace {

struct RankTrial {
  int ranks = 1;
  ReduceOrder order = ReduceOrder::Exact;
  int64_t passes = 5;
  Activations activations = Activations::Keep;
  int64_t vocabulary = 400;                 // embeddings of several blocks, so that every rank owns a part
  std::optional<BalanceOver> experts = {};  // none: a dense model
  ExpertPlacement placement = ExpertPlacement::Everywhere;
};

struct TrialResult {
  std::vector<double> losses, auxiliary_losses, norms;
  std::vector<std::vector<float>> weights;  // by rank
};

std::vector<Batch> trial_batches(const RankTrial& trial, int64_t step) {
  std::vector<Batch> batches;
  for (int64_t pass = 0; pass < trial.passes; ++pass) {
    batches.push_back(random_batch({.sequences = 1,
                                    .length = 8,
                                    .vocabulary = trial.vocabulary,
                                    .seed = static_cast<uint64_t>(step * 100 + pass)}));
  }
  return batches;
}

std::vector<float> weights_of(const Decoder& decoder) {
  std::vector<float> all;
  for (const NamedParameter& named : decoder.parameters()) {
    const auto values = named.parameter->value.values<float>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

TrialResult run_trial(const RankTrial& trial) {
  TrialResult result;
  result.weights.resize(static_cast<size_t>(trial.ranks));
  test::on_ranks(trial.ranks, [&](Ranks& ranks) {
    Engine engine({.threads = 1});
    ModelConfig config = trial.experts ? small_experts(GateLayout::PackedPerGroup)
                                       : small_model(GateLayout::PackedPerGroup, {{}});
    config.vocabulary = trial.vocabulary;
    config.tied = true;
    Decoder decoder(config);
    decoder.initialise(engine, Random(1));
    Trainer trainer(engine, decoder,
                    {.schedule = {.peak = 1e-2, .steps = 3},
                     .activations = trial.activations,
                     .routers = {.over = trial.experts.value_or(BalanceOver::Step)}},
                    {.ranks = ranks, .order = trial.order, .experts = trial.placement});
    for (int64_t step = 0; step < 3; ++step) {
      const std::vector<Batch> batches = trial_batches(trial, step);
      const Range own = share_of(trial.passes, ranks.rank(), ranks.size());
      const StepResult taken =
          trainer.step({.batches = std::span(batches).subspan(static_cast<size_t>(own.begin),
                                                              static_cast<size_t>(own.size())),
                        .first = own.begin,
                        .total = trial.passes,
                        .tokens = trial.passes * 8});
      EXPECT_EQ(taken.rank_seconds.size(), static_cast<size_t>(ranks.size()));
      if (!ranks.is_first()) continue;
      result.losses.push_back(taken.loss);
      result.auxiliary_losses.push_back(taken.auxiliary_loss);
      result.norms.push_back(taken.gradient_norm);
    }
    trainer.complete_weights();
    result.weights[static_cast<size_t>(ranks.rank())] = weights_of(decoder);
  });
  for (const std::vector<float>& weights : result.weights)
    EXPECT_TRUE(weights == result.weights.front()) << "ranks have different weights";
  return result;
}

TEST(RanksTraining, in_the_exact_order_gives_the_same_bits_for_any_number_of_ranks) {
  const TrialResult one = run_trial({.ranks = 1});
  for (const int ranks : {2, 3, 4, 5}) {
    const TrialResult several = run_trial({.ranks = ranks});
    EXPECT_EQ(several.losses, one.losses) << ranks << " ranks";
    EXPECT_EQ(several.norms, one.norms) << ranks << " ranks";
    EXPECT_TRUE(several.weights.front() == one.weights.front()) << ranks << " ranks";
  }
}

// The choices of all passes of a step are counted over the ranks.
TEST(RanksTraining, of_experts_gives_the_same_bits_for_any_number_of_ranks) {
  std::vector<double> auxiliary;
  for (const BalanceOver over : {BalanceOver::Step, BalanceOver::Pass}) {
    const TrialResult one = run_trial({.ranks = 1, .experts = over});
    for (const int ranks : {2, 3, 4}) {
      const TrialResult several = run_trial({.ranks = ranks, .experts = over});
      EXPECT_EQ(several.losses, one.losses) << ranks << " ranks";
      EXPECT_EQ(several.auxiliary_losses, one.auxiliary_losses) << ranks << " ranks";
      EXPECT_EQ(several.norms, one.norms) << ranks << " ranks";
      EXPECT_TRUE(several.weights.front() == one.weights.front()) << ranks << " ranks";
    }
    auxiliary.push_back(one.auxiliary_losses.front());
  }
  EXPECT_NE(auxiliary.front(), auxiliary.back()) << "balance over a step is not that of its passes";
}

TEST(RanksTraining, with_experts_spread_over_ranks_gives_the_same_bits) {
  for (const auto& [ranks, passes] : {std::pair{2, 4}, {3, 6}, {4, 4}}) {
    for (const Activations activations : {Activations::Keep, Activations::Recompute}) {
      const RankTrial trial{.ranks = ranks,
                            .passes = passes,
                            .activations = activations,
                            .experts = BalanceOver::Step,
                            .placement = ExpertPlacement::Spread};
      RankTrial alone = trial;
      alone.ranks = 1;
      const TrialResult one = run_trial(alone), several = run_trial(trial);
      EXPECT_EQ(several.losses, one.losses) << ranks << " ranks";
      EXPECT_EQ(several.auxiliary_losses, one.auxiliary_losses) << ranks << " ranks";
      EXPECT_EQ(several.norms, one.norms) << ranks << " ranks";
      EXPECT_TRUE(several.weights.front() == one.weights.front()) << ranks << " ranks";
    }
  }
}

TEST(RanksTraining, with_spread_experts_in_the_fast_order_gives_nearly_the_same) {
  const RankTrial trial{.ranks = 2,
                        .order = ReduceOrder::Fast,
                        .passes = 4,
                        .experts = BalanceOver::Step,
                        .placement = ExpertPlacement::Spread};
  const TrialResult one = run_trial({.passes = 4, .experts = BalanceOver::Step}), two = run_trial(trial);
  for (size_t step = 0; step < one.losses.size(); ++step) {
    EXPECT_NEAR(two.losses[step], one.losses[step], 1e-4);
    EXPECT_NEAR(two.norms[step] / one.norms[step], 1, 1e-4);
  }
}

TEST(RanksTraining, with_spread_experts_keeps_gradients_and_moments_of_own_ones_alone) {
  test::on_ranks(3, [&](Ranks& ranks) {
    Engine engine({.threads = 1});
    Decoder decoder(small_experts(GateLayout::None));
    decoder.initialise(engine, Random(1));
    Trainer trainer(engine, decoder, {}, {.ranks = ranks, .experts = ExpertPlacement::Spread});
    const Batch batch = random_batch({.sequences = 1, .length = 8, .vocabulary = 50});
    trainer.accumulate({.batches = {&batch, 1}, .first = ranks.rank(), .total = 3, .tokens = 24});
    int64_t experts = 0, own = 0;
    for (const NamedParameter& named : decoder.parameters()) {
      if (named.parameter->name.find(".mlp.experts.") == std::string::npos) continue;
      ++experts;
      own += named.parameter->grad.defined() ? 1 : 0;
    }
    EXPECT_GT(experts, 0);
    EXPECT_EQ(own, experts / 3);
  });
}

TEST(RanksTraining, in_the_fast_order_gives_nearly_the_same_and_all_ranks_agree) {
  const TrialResult one = run_trial({.ranks = 1});
  for (const Activations activations : {Activations::Keep, Activations::Recompute}) {
    for (const ReduceOrder order : {ReduceOrder::Fast, ReduceOrder::FastBf16}) {
      const TrialResult several = run_trial({.ranks = 3, .order = order, .activations = activations});
      const double tolerance = order == ReduceOrder::Fast ? 1e-4 : 2e-2;  // bf16 has 8 bits, and Adam divides
      for (size_t step = 0; step < one.losses.size(); ++step) {
        EXPECT_NEAR(several.losses[step], one.losses[step], tolerance);
        EXPECT_NEAR(several.norms[step] / one.norms[step], 1, tolerance);
      }
    }
  }
}

TEST(RanksTraining, sends_gradients_and_weights_once_and_bf16_takes_half_of_the_former) {
  std::map<ReduceOrder, int64_t> bytes;
  for (const ReduceOrder order : {ReduceOrder::Fast, ReduceOrder::FastBf16}) {
    test::on_ranks(2, [&](Ranks& ranks) {
      Engine engine({.threads = 1});
      ModelConfig config = small_model();
      config.vocabulary = 2000;
      Decoder decoder(config);
      decoder.initialise(engine, Random(1));
      Trainer trainer(engine, decoder, {}, {.ranks = ranks, .order = order});
      const Batch batch = random_batch({.sequences = 1, .length = 8, .vocabulary = 2000});
      trainer.step({.batches = {&batch, 1}, .first = ranks.rank(), .total = 2, .tokens = 16});
      if (ranks.is_first()) bytes[order] = ranks.traffic().bytes;
      // Of two moments, one rank has about half.
      int64_t kept = 0, all = 0;
      for (const AdamW::Moments& moments : trainer.optimizer().moments()) kept += moments.first.count();
      for (const NamedParameter& named : decoder.parameters()) all += named.shape.count();
      EXPECT_LT(std::abs(kept - all / 2), 2 * kSumBlock);
      if (order == ReduceOrder::Fast && ranks.is_first()) {
        // A half of the gradients goes out, and a half of the weights.
        EXPECT_NEAR(static_cast<double>(bytes[order]), static_cast<double>(all) * 4,
                    0.2 * static_cast<double>(all));
      }
    });
  }
  EXPECT_NEAR(
      static_cast<double>(bytes[ReduceOrder::FastBf16]) / static_cast<double>(bytes[ReduceOrder::Fast]), 0.75,
      0.03);
}

class RankRuns : public Runs {
 protected:
  struct Session {
    int ranks = 1;
    int64_t until = 1 << 30;  // steps, as if all had been killed there
    ReduceOrder order = ReduceOrder::Exact;
    std::function<bool(int rank)> cancelled = [](int) { return false; };
  };

  RunEnd train_on(const std::string& name, const RunConfig& config, const Session& session) {
    std::mutex mutex;
    std::optional<RunEnd> end;
    test::on_ranks(session.ranks, [&](Ranks& ranks) {
      Engine engine({.threads = 1});
      const JobControl control{.cancelled = [&] { return session.cancelled(ranks.rank()); },
                               .log = ranks.is_first() ? &log_ : nullptr};
      struct Killed {};
      try {
        const TrainingOutcome outcome =
            run_training(engine,
                         {.config = config,
                          .shards = {TokenShard(shard_)},
                          .out = directory_.path() / name,
                          .start = RunStart::ResumeOrNew,
                          .ranks = {.ranks = ranks, .order = session.order}},
                         control, {.stepped = [&](const StepResult&, const RunState& state) {
                           if (state.step >= session.until) throw Killed{};
                         }});
        const std::lock_guard lock(mutex);
        EXPECT_EQ(end.value_or(outcome.end), outcome.end) << "ranks end differently";
        end = outcome.end;
      } catch (const Killed&) {
      }
    });
    return end.value_or(RunEnd::Finished);
  }

  // Passes of one sequence: eight to share out.
  static RunConfig shared_run() {
    RunConfig config = small_run();
    config.pass_tokens = config.sequence;
    config.trainer.schedule.steps = 12;
    return config;
  }

  // Losses and norms of all steps and validations.
  std::vector<double> figures(const std::string& name) const {
    std::ifstream file(directory_.path() / name / "metrics.jsonl");
    std::vector<double> all;
    for (std::string line; std::getline(file, line);) {
      const auto json = nlohmann::json::parse(line);
      for (const char* key : {"loss", "gradient_norm", "validation_loss"})
        if (json.contains(key)) all.push_back(json.at(key));
    }
    return all;
  }
};

TEST_F(RankRuns, end_with_the_same_weights_and_validations_on_1_2_and_3_ranks) {
  train_on("one", shared_run(), {});
  EXPECT_GE(figures("one").size(), 12U + 2);
  for (const int ranks : {2, 3}) {
    const std::string name = std::to_string(ranks);
    train_on(name, shared_run(), {.ranks = ranks});
    EXPECT_EQ(weights(name), weights("one"));
    EXPECT_EQ(figures(name), figures("one"));
    EXPECT_EQ(train_on(name, shared_run(), {.ranks = ranks}), RunEnd::Finished) << "resumed at its end";
  }
  EXPECT_NE(messages_.str().find("3 ranks, 1 threads each here; gradients are added in the exact order"),
            std::string::npos)
      << messages_.str();
}

TEST_F(RankRuns, go_on_with_another_number_of_ranks_as_if_nothing_had_happened) {
  train_on("whole", shared_run(), {});
  train_on("run", shared_run(), {.ranks = 3, .until = 5});
  train_on("run", shared_run(), {.ranks = 1, .until = 9});
  train_on("run", shared_run(), {.ranks = 2});
  EXPECT_EQ(weights("run"), weights("whole"));
}

TEST_F(RankRuns, go_on_from_checkpoints_of_several_files) {
  train_on("whole", shared_run(), {});
  RunConfig cut = shared_run();
  cut.checkpoints.file_bytes = 2000;
  train_on("run", cut, {.ranks = 3, .until = 5});
  const std::filesystem::path checkpoint = directory_.path() / "run/checkpoints/step-000004";
  EXPECT_TRUE(exists(checkpoint / "optimizer.safetensors.index.json"));
  EXPECT_TRUE(exists(checkpoint / "model.safetensors.index.json"));
  EXPECT_FALSE(exists(checkpoint / "optimizer.safetensors"));
  // In files of another size from here on.
  train_on("run", shared_run(), {.ranks = 2});
  EXPECT_EQ(messages_.str().find("skipped"), std::string::npos) << messages_.str();
  EXPECT_EQ(weights("run"), weights("whole"));
}

TEST_F(RankRuns, skip_a_checkpoint_of_which_a_file_is_missing_or_damaged) {
  RunConfig cut = shared_run();
  cut.checkpoints.file_bytes = 2000;
  train_on("whole", cut, {});
  for (const char* how : {"missing", "damaged"}) {
    train_on(how, cut, {.ranks = 2, .until = 9});
    const std::filesystem::path checkpoint = directory_.path() / how / "checkpoints/step-000008";
    std::filesystem::path part;
    for (const auto& entry : std::filesystem::directory_iterator(checkpoint))
      if (entry.path().filename().string().starts_with("optimizer-00002-of-")) part = entry.path();
    ASSERT_FALSE(part.empty());
    if (how == std::string("missing")) {
      std::filesystem::remove(part);
    } else {
      std::fstream(part, std::ios::in | std::ios::out | std::ios::binary).seekp(-1, std::ios::end).put('x');
    }
    messages_.str("");
    train_on(how, cut, {.ranks = 3});
    EXPECT_NE(messages_.str().find("a checkpoint is skipped"), std::string::npos) << messages_.str();
    EXPECT_EQ(figures(how), figures("whole"));
  }
}

TEST_F(RankRuns, stop_together_when_one_rank_is_asked_to) {
  const RunEnd end =
      train_on("run", shared_run(), {.ranks = 3, .cancelled = [](int rank) { return rank == 2; }});
  EXPECT_EQ(end, RunEnd::Interrupted);
}

TEST_F(RankRuns, diverge_together) {
  RunConfig config = shared_run();
  config.trainer.schedule.peak = 1e30;
  config.trainer.optimizer.max_norm = 0;
  std::vector<std::string> lines(3);
  test::on_ranks(3, [&](Ranks& ranks) {
    Engine engine({.threads = 1});
    std::optional<RunDirectory> directory;
    if (ranks.is_first())
      directory.emplace(RunDirectory::create(directory_.path() / "run", {.config = "{}"}));
    const JobControl control;
    sluice::Run run({.engine = engine,
                     .config = config,
                     .directory = directory ? &*directory : nullptr,
                     .shards = {TokenShard(shard_)},
                     .control = control,
                     .ranks = {.ranks = ranks}});
    try {
      run.train();
    } catch (const Divergence& error) {
      lines[static_cast<size_t>(ranks.rank())] = error.what();
    }
  });
  EXPECT_NE(lines.front().find("not finite; the first value that is not: layers.0."), std::string::npos)
      << lines.front();
  for (const std::string& line : lines) EXPECT_EQ(line, lines.front());
}

std::string refusal_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return fmt::format("{} {}", error.exit_code(), error.what());
  }
  return "";
}

TEST_F(RankRuns, are_refused_if_there_is_not_enough_for_every_rank) {
  RunConfig config = shared_run();
  config.pass_tokens = 64;
  EXPECT_EQ(
      refusal_of([&] { train_on("run", config, {.ranks = 3}); }),
      "2 3 ranks: a step has 2 passes, and every rank takes one at least (--set pass_tokens=32 gives it 4; "
      "--reduce fast shares out sequences)");
  EXPECT_EQ(
      refusal_of([&] { train_on("run", config, {.ranks = 9, .order = ReduceOrder::Fast}); }),
      "2 9 ranks: a step has 8 sequences, and every rank takes one at least (a larger batch_tokens, or at "
      "most 8 ranks)");
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "run"));
  EXPECT_EQ(train_on("run", config, {.ranks = 3, .order = ReduceOrder::Fast}), RunEnd::Finished);
}

TEST_F(RankRuns, with_other_data_or_another_configuration_on_one_rank_are_refused) {
  const auto with = [&](const std::function<void(TrainingJob&)>& change) {
    return refusal_of([&] {
      test::on_ranks(2, [&](Ranks& ranks) {
        Engine engine({.threads = 1});
        TrainingJob job{.config = shared_run(),
                        .shards = {TokenShard(shard_)},
                        .out = directory_.path() / "run",
                        .ranks = {.ranks = ranks}};
        if (ranks.rank() == 1) change(job);
        run_training(engine, job);
      });
    });
  };
  EXPECT_NE(with([](TrainingJob& job) {
              job.config.seed = 7;
            }).find("3 rank 1: its configuration is not that of rank 0, in seed: expected "),
            std::string::npos);
  EXPECT_NE(with([](TrainingJob& job) {
              job.shards.push_back(job.shards.front());
            }).find("3 rank 1: its data is not that of rank 0: expected 2"),
            std::string::npos);
  EXPECT_NE(with([](TrainingJob& job) {
              job.tokenizer = "bytes";
            }).find("3 rank 1: its --tokenizer is not that of rank 0: expected none, got "),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "run"));
}

TEST_F(RankRuns, refuse_to_spread_experts_that_cannot_be_spread) {
  const auto spread_on = [&](int count, const RunConfig& config, ReduceOrder order) {
    return refusal_of([&] {
      test::on_ranks(count, [&](Ranks& ranks) {
        const TrainerRanks spread{.ranks = ranks, .order = order, .experts = ExpertPlacement::Spread};
        check_ranks(Engine({.threads = 1}), {.config = config, .shards = {}, .out = "run", .ranks = spread});
      });
    });
  };
  RunConfig config = shared_run();
  for (const int ranks : {1, 2}) {
    EXPECT_EQ(spread_on(ranks, config, ReduceOrder::Exact), "2 --experts spread: the model has no experts");
  }
  config.model = small_experts(GateLayout::None);
  EXPECT_EQ(spread_on(4, config, ReduceOrder::Exact), "");
  EXPECT_EQ(spread_on(7, config, ReduceOrder::Exact),
            "2 7 ranks: --experts spread gives each rank experts of its own, and there are 6 (--experts "
            "everywhere gives all of them to every rank)");
  EXPECT_EQ(
      spread_on(3, config, ReduceOrder::Fast),
      "2 3 ranks: --experts spread needs as many sequences on every rank, and a step has 8 (the sequences "
      "of a batch must be a multiple of 3; with --experts everywhere ranks may have more or fewer than "
      "others)");
  config.batch_tokens = config.sequence * 12;
  config.pass_tokens = config.sequence * 3;
  EXPECT_EQ(spread_on(3, config, ReduceOrder::Exact),
            "2 3 ranks: --experts spread needs as many passes on every rank, and a step has 4 (--set "
            "pass_tokens=64 gives it 3; with --experts everywhere ranks may have more or fewer than others)");
}

TEST_F(RankRuns, are_planned_for_each_rank) {
  for (const ExpertPlacement placement : {ExpertPlacement::Everywhere, ExpertPlacement::Spread}) {
    RunConfig config = shared_run();
    config.model = small_experts(GateLayout::None);
    Engine own({.threads = 1});
    const TrainingPlan alone = plan_training(own, config);
    EXPECT_EQ(alone.passes, 8);
    EXPECT_EQ(alone.state_bytes, 16 * alone.parameters);
    EXPECT_EQ(alone.kept_sums, 3);
    test::on_ranks(2, [&](Ranks& ranks) {
      Engine engine({.threads = 1});
      const TrainerRanks two{.ranks = ranks, .experts = placement};
      const TrainingPlan plan = plan_training(engine, config, {}, two);
      EXPECT_EQ(plan.ranks, 2);
      EXPECT_EQ(plan.ranks_here, 2);
      EXPECT_EQ(plan.passes, 4);
      EXPECT_EQ(plan.kept_sums, 2);
      ASSERT_TRUE(plan.trial);
      EXPECT_LT(plan.trial->memory_bytes, alone.trial->memory_bytes);
      if (placement == ExpertPlacement::Everywhere) {
        EXPECT_EQ(plan.state_bytes, 12 * plan.parameters) << "half of the moments";
      } else {
        EXPECT_LT(plan.state_bytes, 12 * plan.parameters) << "and half of the experts' gradients";
      }
      const TrainingPlan fast =
          plan_training(engine, config, {}, {.ranks = ranks, .order = ReduceOrder::Fast});
      EXPECT_EQ(fast.kept_bytes, 0);
      if (!ranks.is_first()) return;
      EXPECT_NE(to_text(plan).find("ranks        2, each with at most 4 passes of 16 tokens a step"),
                std::string::npos)
          << to_text(plan);
      EXPECT_EQ(to_json(plan)["passes_per_rank"], 4);
    });
  }
}

}  // namespace
}  // namespace sluice
