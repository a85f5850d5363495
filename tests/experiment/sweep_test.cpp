// A sweep as a program that embeds the library uses it.
#include "sluice/experiment/sweep.h"

#include <nlohmann/json.hpp>

#include "sluice/base/file.h"
#include "tests/base/expect_error.h"
#include "tests/train/runs.h"

namespace sluice {
namespace {

class Sweeps : public Runs {
 protected:
  SweepRequest request(std::vector<std::string> peaks, int seeds, RunStart start = RunStart::New) const {
    RunConfig config = small_run();
    config.trainer.schedule.steps = 4;
    config.validation.every = 2;
    const Path path = directory_.file("run.json", run_config_json(config).dump());
    return {.config = path.string(),
            .axes = {{.key = "schedule.peak", .values = std::move(peaks)}},
            .seeds = seeds,
            .shards = {TokenShard(shard_)},
            .out = directory_.path() / "sweep",
            .start = start};
  }

  Engine engine_{{.threads = 1}};
};

TEST_F(Sweeps, train_every_variant_with_every_seed) {
  std::vector<std::string> order;
  const SweepResult result = run_sweep(engine_, request({"1e-3", "1e-2"}, 2), {},
                                       {.run_begins = [&](const SweepObserver::NextRun& next) {
                                         order.push_back(next.variant + " " + std::to_string(next.seed));
                                         EXPECT_EQ(next.number, order.size());
                                         EXPECT_EQ(next.total, 4U);
                                       }});
  EXPECT_EQ(order, (std::vector<std::string>{"peak=1e-3 1", "peak=1e-2 1", "peak=1e-3 2", "peak=1e-2 2"}));
  EXPECT_EQ(result.end, RunEnd::Finished);
  ASSERT_EQ(result.variants.size(), 2U);
  for (const SweepVariant& variant : result.variants) {
    ASSERT_EQ(variant.runs.size(), 2U);
    EXPECT_NE(variant.runs[0].outcome->validation->loss, variant.runs[1].outcome->validation->loss);
  }
  EXPECT_EQ(nlohmann::ordered_json::parse(read_text(directory_.path() / "sweep/result.json", 1 << 20)),
            to_json(result));
}

TEST_F(Sweeps, that_are_cancelled_go_on_where_they_stopped) {
  int64_t steps = 0;
  const SweepResult stopped =
      run_sweep(engine_, request({"1e-3"}, 3), {.cancelled = [&] { return steps == 6; }},
                {.run = {.stepped = [&](const StepResult&, const RunState&) { ++steps; }}});
  EXPECT_EQ(stopped.end, RunEnd::Interrupted);
  EXPECT_EQ(stopped.variants[0].runs.size(), 1U) << "the second run was stopped in its middle";
  const SweepResult whole =
      run_sweep(engine_, request({"1e-3"}, 3, RunStart::ResumeOrNew), {},
                {.run = {.stepped = [&](const StepResult&, const RunState&) { ++steps; }}});
  EXPECT_EQ(steps, 12) << "no step is taken twice";
  ASSERT_EQ(whole.variants[0].runs.size(), 3U);
  EXPECT_EQ(to_json(*whole.variants[0].runs[0].outcome), to_json(*stopped.variants[0].runs[0].outcome));
}

TEST_F(Sweeps, count_a_run_that_diverges_and_go_on) {
  SweepRequest wild = request({"10", "1e-3"}, 1);
  wild.changes = {"optimizer.weight_decay=10", "steps=40"};  // every weight turns around and grows 99-fold
  int diverged = 0;
  const SweepResult result =
      run_sweep(engine_, wild, {},
                {.run_diverged = [&](const SweepRun& run, const Divergence&) { diverged += run.seed; }});
  EXPECT_EQ(diverged, 1);
  EXPECT_FALSE(result.variants[0].runs.at(0).outcome.has_value());
  EXPECT_TRUE(result.variants[1].runs.at(0).outcome.has_value());
}

TEST_F(Sweeps, do_not_try_a_run_again_that_diverged) {
  SweepRequest wild = request({"10"}, 1);
  wild.changes = {"optimizer.weight_decay=10", "steps=40"};
  run_sweep(engine_, wild);
  wild.start = RunStart::ResumeOrNew;
  const SweepResult again = run_sweep(
      engine_, wild, {},
      {.run = {.stepped = [](const StepResult&, const RunState&) { FAIL() << "a step was taken"; }}});
  EXPECT_FALSE(again.variants[0].runs.at(0).outcome.has_value());
}

TEST_F(Sweeps, of_ended_runs_train_nothing) {
  run_sweep(engine_, request({"1e-3"}, 1));
  SweepRequest more = request({"1e-3"}, 3, RunStart::ResumeOrNew);
  more.runs = RunSelection::Ended;
  const SweepResult ended = run_sweep(engine_, more);
  ASSERT_EQ(ended.variants[0].runs.size(), 1U);
  EXPECT_TRUE(ended.variants[0].runs[0].outcome.has_value());
  EXPECT_FALSE(std::filesystem::exists(more.out / "peak=1e-3/seed-2"));
}

TEST_F(Sweeps, keep_what_is_changed_of_a_model_that_varies) {
  SweepRequest models = request({"1e-3"}, 1);
  models.axes.push_back({.key = "model", .values = {"tiny-baseline", "tiny-headwise"}});
  models.changes = {"model.num_hidden_layers=1", "model.vocab_size=256"};
  models.runs = RunSelection::Ended;  // nothing is trained: only the configurations count
  const SweepResult shallow = run_sweep(engine_, models);
  models.changes = {"model.num_hidden_layers=2", "model.vocab_size=256"};
  const SweepResult deeper = run_sweep(engine_, models);
  for (size_t i = 0; i < 2; ++i)
    EXPECT_LT(shallow.variants.at(i).parameters, deeper.variants.at(i).parameters);
}

TEST_F(Sweeps, count_seeds_from_where_they_are_told) {
  SweepRequest tuning = request({"1e-3"}, 1);
  tuning.first_seed = 101;
  EXPECT_EQ(run_sweep(engine_, tuning).variants[0].runs.at(0).seed, 101);
  EXPECT_TRUE(std::filesystem::exists(tuning.out / "peak=1e-3/seed-101"));
}

TEST_F(Sweeps, refuse_runs_that_may_end_at_different_lengths) {
  for (const std::string stop : {"stop.minutes", "stop.patience"}) {
    SweepRequest uneven = request({"1e-3"}, 1);
    uneven.changes = {stop + "=2"};
    EXPECT_BAD_INPUT(run_sweep(engine_, uneven), uneven.config +
                                                     ": a sweep compares runs of equal length: "
                                                     "expected no " +
                                                     stop);
  }
}

TEST_F(Sweeps, take_no_run_of_another_length) {
  run_sweep(engine_, request({"1e-3"}, 1));
  SweepRequest other = request({"1e-3"}, 1, RunStart::ResumeOrNew);
  for (const std::string steps : {"3", "6"}) {
    other.changes = {"steps=" + steps};
    EXPECT_BAD_INPUT(run_sweep(engine_, other),
                     (other.out / "peak=1e-3/seed-1").string() +
                         ": the run in it has another length: expected " + steps +
                         " steps, got 4 (a sweep compares runs that are alike: take another directory)");
  }
}

TEST_F(Sweeps, take_no_run_that_keeps_other_checkpoints) {
  run_sweep(engine_, request({"1e-3"}, 1));
  SweepRequest other = request({"1e-3"}, 1, RunStart::ResumeOrNew);
  other.changes = {"checkpoints.every=3"};
  EXPECT_BAD_INPUT(
      run_sweep(engine_, other),
      (other.out / "peak=1e-3/seed-1").string() +
          ": the run in it keeps other checkpoints: expected 3 steps between two, got 4 (a sweep "
          "compares runs that are alike: take another directory)");
}

TEST_F(Sweeps, check_every_run_before_the_first) {
  EXPECT_THROW(run_sweep(engine_, request({"1e-3", "fast"}, 1)), Error);
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "sweep"));
}

}  // namespace
}  // namespace sluice
