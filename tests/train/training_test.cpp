// Training as a program that embeds the library uses it.
#include "sluice/train/training.h"

#include <nlohmann/json.hpp>

#include "sluice/train/metrics.h"
#include "sluice/train/training_plan.h"
#include "tests/base/expect_error.h"
#include "tests/train/runs.h"

namespace sluice {
namespace {

class TrainingJobs : public Runs {
 protected:
  TrainingJob job(const std::string& name, RunStart start = RunStart::New) const {
    return {.config = small_run(),
            .shards = {TokenShard(shard_)},
            .out = directory_.path() / name,
            .start = start};
  }

  Engine engine_{{.threads = 1}};
};

TEST_F(TrainingJobs, give_their_outcome_as_a_struct) {
  RunMetrics seen;
  int64_t last_done = 0;
  const JobControl control{.progress = [&](const ProgressUpdate& update) {
    EXPECT_EQ(update.unit, "steps");
    EXPECT_EQ(update.total, 20);
    EXPECT_EQ(update.done, ++last_done);
  }};
  const TrainingOutcome outcome = run_training(
      engine_, job("run"), control,
      {.stepped = [&](const StepResult& result, const RunState& state) { seen.add(result, state); },
       .validated = [&](const Validation& validation) { seen.add(validation); }});
  EXPECT_EQ(outcome.end, RunEnd::Finished);
  EXPECT_EQ(last_done, 20);
  ASSERT_TRUE(outcome.validation.has_value());
  EXPECT_EQ(outcome.validation->step, 20);
  const RunMetrics written = read_metrics(outcome.directory);
  ASSERT_EQ(seen.steps.size(), written.steps.size());
  EXPECT_EQ(seen.steps.back().loss, written.steps.back().loss);
  EXPECT_EQ(seen.steps.back().seconds, written.steps.back().seconds);
  ASSERT_EQ(seen.validations.size(), 4U);
  EXPECT_EQ(to_json(seen.validations.back().validation), to_json(written.validations.back().validation));
  EXPECT_EQ(to_json(outcome)["validation"], to_json(*outcome.validation));
  EXPECT_EQ(to_json(outcome)["end"], "finished");
}

TEST_F(TrainingJobs, that_are_cancelled_save_and_go_on_to_the_same_weights) {
  run_training(engine_, job("whole"));
  int64_t steps = 0;
  const TrainingOutcome stopped =
      run_training(engine_, job("run"), {.cancelled = [&] { return steps == 7; }},
                   {.stepped = [&](const StepResult&, const RunState&) { ++steps; }});
  EXPECT_EQ(stopped.end, RunEnd::Interrupted);
  EXPECT_EQ(stopped.state.step, 7);
  EXPECT_EQ(run_training(engine_, job("run", RunStart::Resume)).end, RunEnd::Finished);
  EXPECT_EQ(weights("run"), weights("whole"));
}

TEST_F(TrainingJobs, that_had_finished_give_the_same_outcome_when_they_are_resumed) {
  const TrainingOutcome finished = run_training(engine_, job("run"));
  const TrainingOutcome again = run_training(engine_, job("run", RunStart::Resume));
  EXPECT_EQ(to_json(again), to_json(finished));
}

TEST_F(TrainingJobs, begin_or_go_on_when_asked_for_either) {
  EXPECT_THROW(run_training(engine_, job("run", RunStart::Resume)), Error) << "there is nothing to resume";
  int64_t steps = 0;
  run_training(engine_, job("run", RunStart::ResumeOrNew), {.cancelled = [&] { return steps == 7; }},
               {.stepped = [&](const StepResult&, const RunState&) { ++steps; }});
  EXPECT_EQ(steps, 7) << "it began";
  const TrainingOutcome outcome = run_training(engine_, job("run", RunStart::ResumeOrNew), {},
                                               {.started = [&](const RunConfig&, const RunState& state) {
                                                 EXPECT_EQ(state.step, 7) << "it went on";
                                               }});
  EXPECT_EQ(outcome.state.step, 20);
  TrainingJob other = job("run", RunStart::ResumeOrNew);
  other.config.seed = 9;
  EXPECT_THROW(run_training(engine_, other), Error) << "a run goes on as it began";
}

// Before there was validation.seed, the run's seed chose the validation text, and no end of text was noted.
TEST_F(TrainingJobs, of_older_versions_go_on_with_the_split_and_the_model_that_they_have) {
  RunConfig config = small_run();
  config.seed = config.validation.seed = 7;
  train("whole", config);
  train("run", config, 9);
  nlohmann::ordered_json old = run_config_json(config);
  old["validation"].erase("seed");
  old["validation"].erase("split");
  std::ofstream(directory_.path() / "run" / "config.json") << old;
  TrainingJob again = job("run", RunStart::Resume);
  again.config.seed = 7;
  EXPECT_EQ(run_training(engine_, again).state.step, 20);
  EXPECT_EQ(weights("run"), weights("whole"));
}

TEST_F(TrainingJobs, leave_models_that_end_as_their_documents_do) {
  run_training(engine_, job("run"));
  const Json config = Json::load(directory_.path() / "run" / "latest" / "config.json");
  EXPECT_EQ(config.integer("eos_token_id"), 49);
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "run" / "latest" / "tokenizer_config.json"))
      << "nobody knows what the tokens stand for";
}

TEST_F(TrainingJobs, are_checked_before_anything_is_written) {
  TrainingJob bad = job("run");
  bad.config.sample.prompt = "text";  // and the tokens of the data are not bytes
  EXPECT_THROW(run_training(engine_, bad), Error);
  EXPECT_FALSE(std::filesystem::exists(bad.out));
}

TEST_F(TrainingJobs, can_be_planned_and_the_plan_cancelled) {
  const TrainingPlan plan = plan_training(engine_, small_run());
  EXPECT_EQ(plan.tokens, 20 * 128);
  ASSERT_TRUE(plan.trial.has_value());
  EXPECT_GT(plan.trial->tokens_per_s, 0);
  EXPECT_EQ(to_json(plan)["steps"], 20);
  EXPECT_ERROR(plan_training(engine_, small_run(), {.cancelled = [] { return true; }}),
               ErrorKind::Interrupted, "interrupted");
}

// The pool of a run that is over has what the run took at the most.
TEST_F(TrainingJobs, take_the_memory_that_was_planned) {
  for (const ReduceOrder order : {ReduceOrder::Exact, ReduceOrder::Fast}) {
    for (const int64_t passes : {1, 2, 8, 16}) {
      TrainingJob job = this->job(fmt::format("{}-{}", name_of(order), passes));
      job.config.batch_tokens = job.config.sequence * 16;
      job.config.pass_tokens = job.config.batch_tokens / passes;
      job.config.validation.share = 0;
      job.config.trainer.schedule.steps = 2;
      job.ranks.order = order;
      Engine planning({.threads = 1}), running({.threads = 1});
      const TrainingPlan plan = plan_training(planning, job.config, {}, job.ranks);
      run_training(running, job);
      const auto taken = static_cast<double>(running.pool().stats().reserved);
      EXPECT_NEAR(static_cast<double>(plan.trial->memory_bytes) / taken, 1, 0.1)
          << name_of(order) << ", " << passes << " passes";
    }
  }
}

TEST_F(TrainingJobs, keep_a_sum_of_gradients_for_each_doubling_of_the_passes) {
  RunConfig config = small_run();
  config.batch_tokens = config.sequence * 16;
  config.pass_tokens = config.sequence;
  const TrainingPlan exact = plan_training(engine_, config);
  EXPECT_EQ(exact.kept_sums, 4);
  EXPECT_EQ(exact.kept_bytes, 4 * 4 * exact.parameters);
  const TrainingPlan fast = plan_training(engine_, config, {}, {.order = ReduceOrder::Fast});
  EXPECT_EQ(fast.kept_bytes, 0);
  EXPECT_GT(exact.trial->memory_bytes, fast.trial->memory_bytes + 3 * 4 * fast.parameters);
}

}  // namespace
}  // namespace sluice
