// sluice train and sluice demo as a black box: a run of a tiny model from text to a checkpoint.
#include "tests/cli/expect_refusal.h"
#include "tests/cli/train_command.h"

namespace sluice::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

TEST_F(TrainCommand, leaves_a_model_that_the_other_commands_take) {
  const ProgramRun trained = train("run", {"--json"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Json result = Json::parse(trained.out);
  EXPECT_EQ(result["steps"], 6);
  EXPECT_EQ(result["tokens"], 6 * 128);
  EXPECT_GT(result["best_validation_loss"], 0.0);
  EXPECT_EQ(run({"params", path("run/latest")}).exit_code, 0);
  EXPECT_EQ(
      run({"generate", path("run/best"), "--tokenizer", "bytes", "--prompt", "Petra", "--max-tokens", "4"})
          .exit_code,
      0);
}

TEST_F(TrainCommand, writes_a_line_of_metrics_per_step_and_the_pulse_of_the_model) {
  ASSERT_EQ(train("run").exit_code, 0);
  std::istringstream lines(content_of(path("run/metrics.jsonl")));
  int steps = 0, validations = 0;
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line);
    if (json.contains("loss")) ++steps;
    if (!json.contains("validation_loss")) continue;
    ++validations;
    for (const char* key : {"sink", "sink_floor", "max_activation", "gate_mean", "gate_below_0.1"})
      EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(steps, 6);
  EXPECT_EQ(validations, 2);
}

TEST_F(TrainCommand, extended_by_resuming_is_the_same_as_trained_at_once) {
  ASSERT_EQ(train("whole", {"--set", "schedule.kind=constant"}).exit_code, 0);
  ASSERT_EQ(train("parts", {"--set", "schedule.kind=constant", "--set", "steps=4"}).exit_code, 0);
  ASSERT_EQ(train("parts", {"--set", "schedule.kind=constant", "--resume"}).exit_code, 0);
  EXPECT_EQ(content_of(path("parts/latest/model.safetensors")),
            content_of(path("whole/latest/model.safetensors")));
}

TEST_F(TrainCommand, refuses_what_it_cannot_do_and_leaves_nothing) {
  EXPECT_EQ(run({"train", path("run.json"), "--out", path("x")}).exit_code, 2) << "no data";
  EXPECT_EQ(train("x", {"--set", "stps=3"}).exit_code, 3) << "unknown key";
  EXPECT_EQ(train("x", {"--tokenizer", path("none.json")}).exit_code, 3) << "no such tokenizer";
  EXPECT_EQ(
      train("x", {"--set", "sequence=512", "--set", "batch_tokens=512", "--set", "validation.share=0.01"})
          .exit_code,
      3)
      << "too little to validate on";
  EXPECT_FALSE(fs::exists(path("x")));
  EXPECT_REFUSAL(train("x", {"--resume"}), 3, "no run to resume");
  ASSERT_EQ(train("run").exit_code, 0);
  EXPECT_EQ(train("run").exit_code, 1) << "there is a run already";
  EXPECT_REFUSAL(train("run", {"--resume", "--set", "seed=9"}), 2, "seed is not what the run began with");
  EXPECT_REFUSAL(train("run", {"--resume", "--set", "model.rope_theta=5"}), 2, "model/rope_theta");
  ASSERT_EQ(run({"data", "tokenize", "bytes", path("run.json"), "--out", path("other.tokens")}).exit_code, 0);
  EXPECT_REFUSAL(run({"train", path("run.json"), "--data", path("t.tokens"), path("other.tokens"), "--out",
                      path("run"), "--resume"}),
                 3, "not those that the run began with");
}

TEST_F(TrainCommand, refuses_a_damaged_shard_and_a_tokenizer_of_other_data) {
  ASSERT_EQ(run({"tokenizer", "train", path("t.jsonl"), "--vocab-size", "300", "--out", path("tok.json")})
                .exit_code,
            0);
  EXPECT_REFUSAL(train("x", {"--tokenizer", path("tok.json")}), 3, "not the tokenizer that made the data");
  std::fstream shard(path("t.tokens"), std::ios::in | std::ios::out | std::ios::binary);
  shard.seekp(200).put('\x7f');
  shard.close();
  EXPECT_REFUSAL(train("x"), 3, "t.tokens");
  EXPECT_FALSE(fs::exists(path("x")));
}

TEST_F(TrainCommand, prints_its_configuration_with_every_default) {
  const ProgramRun printed =
      run({"train", path("run.json"), "--print-config", "--set", "optimizer.beta2=0.99"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  const Json json = Json::parse(printed.out);
  EXPECT_EQ(json["optimizer"]["beta2"], 0.99);
  EXPECT_EQ(json["schedule"]["kind"], "cosine");
  EXPECT_FALSE(fs::exists(path("run")));
}

TEST_F(TrainCommand, samples_text_at_every_validation) {
  ASSERT_EQ(train("run", {"--set", "sample.prompt=Petra", "--set", "sample.tokens=5"}).exit_code, 0);
  std::istringstream lines(content_of(path("run/metrics.jsonl")));
  int samples = 0;
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line);
    if (!json.contains("sample")) continue;
    EXPECT_TRUE(json["sample"].get<std::string>().starts_with("Petra")) << line;
    ++samples;
  }
  EXPECT_EQ(samples, 2);
}

TEST_F(TrainCommand, tries_out_what_a_run_takes_and_leaves_nothing) {
  const ProgramRun planned = run({"train", path("run.json"), "--dry-run", "--json"});
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const Json plan = Json::parse(planned.out);
  EXPECT_EQ(plan["tokens"], 6 * 128);
  EXPECT_EQ(plan["state_bytes"], plan["parameters"].get<int64_t>() * 16);
  EXPECT_GT(plan["memory_bytes"], plan["state_bytes"]);
  EXPECT_GT(plan["timing"]["tokens_per_s"], 0.0);
  EXPECT_FALSE(fs::exists(path("run")));
}

TEST_F(TrainCommand, does_not_try_out_what_cannot_fit) {
  const ProgramRun planned = run({"train", path("run.json"), "--dry-run", "--json", "--set",
                                  "model.hidden_size=131072", "--set", "model.intermediate_size=131072"});
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_TRUE(Json::parse(planned.out)["timing"].is_null());
}

TEST_F(TrainCommand, leaves_a_model_that_eval_measures_on_the_same_shards) {
  ASSERT_EQ(train("run").exit_code, 0);
  const ProgramRun measured = run(
      {"eval", path("run/latest"), "--data", path("t.tokens"), "--chunk", "32", "--chunks", "5", "--json"});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  const Json result = Json::parse(measured.out);
  EXPECT_EQ(result["tokens"], 5 * 31);
  EXPECT_TRUE(result["bits_per_byte"].is_null()) << "of ids nobody knows the text";
  EXPECT_NEAR(result["nll"].get<double>(), std::log(512), 1.0) << "six steps teach little";
  EXPECT_EQ(run({"eval", path("run/latest"), "--data", path("t.tokens"), path("t.jsonl")}).exit_code, 3)
      << "shards and text";
}

TEST_F(TrainCommand, says_what_ended_it) {
  const ProgramRun stopped = train("run", {"--json", "--set", "stop.minutes=1e-9"});
  ASSERT_EQ(stopped.exit_code, 0) << stopped.err;
  EXPECT_EQ(Json::parse(stopped.out)["end"], "out of time");
  const ProgramRun finished = train("run", {"--json", "--resume"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(Json::parse(finished.out)["end"], "finished");
}

TEST_F(TrainCommand, resume_auto_begins_a_run_or_goes_on_with_it) {
  const ProgramRun begun = train("run", {"--json", "--set", "steps=4", "--resume", "auto"});
  ASSERT_EQ(begun.exit_code, 0) << begun.err;
  EXPECT_EQ(Json::parse(begun.out)["steps"], 4);
  const ProgramRun longer = train("run", {"--json", "--resume=auto"});
  ASSERT_EQ(longer.exit_code, 0) << longer.err;
  EXPECT_EQ(Json::parse(longer.out)["steps"], 6);
  EXPECT_EQ(run({"train", "--resume", path("run.json"), "--data", path("t.tokens"), "--out", path("run")})
                .exit_code,
            0)
      << "what follows the flag alone is an argument";
  EXPECT_REFUSAL(train("run", {"--resume=never"}), 2, "expected one of auto, got \"never\"");
}

TEST_F(TrainCommand, demo_compares_three_models) {
  const ProgramRun shown = run({"demo", "--out", path("demo"), "--steps", "2", "--json"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  const Json models = Json::parse(shown.out)["models"];
  ASSERT_EQ(models.size(), 3U);
  EXPECT_EQ(models[0]["variant"], "baseline");
  EXPECT_FALSE(models[0]["validation"].contains("gate_mean"));
  EXPECT_NEAR(models[2]["validation"]["gate_mean"].get<double>(), 0.5, 0.05);
  EXPECT_TRUE(fs::exists(path("demo/report.txt")));
  EXPECT_TRUE(content_of(path("demo/curves.svg")).starts_with("<svg "));
  const std::string page = content_of(path("demo/report.html"));
  EXPECT_NE(page.find(content_of(path("demo/curves.svg"))), std::string::npos)
      << "the curves are in the page";
  for (const char* part : {"<td>elementwise</td>", "small differences mean nothing",
                           "not the gates&#39; work", "sluice generate "})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  for (const char* part : {"<script", "src=", "href=", "@import"})
    EXPECT_EQ(page.find(part), std::string::npos) << "the page needs something else: " << part;
  EXPECT_EQ(run({"demo", "--out", path("demo")}).exit_code, 1) << "nothing is replaced";
}

}  // namespace
}  // namespace sluice::test
