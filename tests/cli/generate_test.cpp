// sluice generate as a black box.
#include <algorithm>
#include <chrono>
#include <sstream>

#include "tests/cli/model_commands.h"

namespace sluice::test {
namespace {

TEST_F(ModelCommands, generate_runs_in_int8) {
  const Json result =
      json({"generate", kModel, "--ids", "1,2,3,4,5", "--max-tokens", "9", "--dtype", "int8"});
  EXPECT_EQ(result["ids"].size(), 9U);
  EXPECT_EQ(json({"generate", kModel, "--ids", "1,2,3,4,5", "--max-tokens", "9", "--dtype", "int8", "--isa",
                  "scalar"})["ids"]
                .size(),
            9U);
}

TEST_F(ModelCommands, generate_tells_text_ids_and_speed) {
  const Json result =
      json({"generate", kModel, "--tokenizer", "bytes", "--prompt", "ab", "--max-tokens", "9"});
  Words keys;
  for (const auto& [key, value] : result.items()) keys.push_back(key);
  EXPECT_EQ(keys, (Words{"ids", "prompt_tokens_per_s", "text", "tokens_per_s"}));
  ASSERT_EQ(result["ids"].size(), 9U);
  std::string text;
  for (const int id : result["ids"]) text += static_cast<char>(id);
  EXPECT_EQ(result["text"], text) << "tokens are bytes";
  EXPECT_GT(result["prompt_tokens_per_s"], 0.0);
  EXPECT_GT(result["tokens_per_s"], 0.0);
  EXPECT_EQ(
      printed({"generate", kModel, "--tokenizer", "bytes", "--prompt", "ab", "--max-tokens", "9", "--quiet"}),
      text + "\n");
  EXPECT_EQ(json({"generate", kModel, "--ids", "97,98", "--max-tokens", "9"})["ids"], result["ids"]);
}

TEST_F(ModelCommands, generate_tells_its_speed_on_stderr) {
  const ProgramRun run =
      run_sluice({"generate", kModel, "--tokenizer", "bytes", "--prompt", "ab", "--max-tokens", "3"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.err.find("2 prompt tokens at "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find(" 3 new at "), std::string::npos) << run.err;
}

TEST_F(ModelCommands, generate_continues_many_prompts) {
  const auto single = [&](const std::string& prompt) {
    return json({"generate", kModel, "--tokenizer", "bytes", "--prompt", prompt, "--max-tokens", "5"})["ids"];
  };
  const std::string prompts = file("p.txt", "one\n\ntwo\r\n");
  const Words command = {"generate",     kModel, "--tokenizer", "bytes",
                         "--max-tokens", "5",    "--quiet",     "--prompts"};
  const auto run = [&](const std::string& from, const RunOptions& options = {}) {
    Words arguments = command;
    arguments.push_back(from);
    std::istringstream out(printed(arguments, options));
    std::vector<Json> lines;
    for (std::string line; std::getline(out, line);) lines.push_back(Json::parse(line, nullptr, false));
    return lines;
  };
  const std::vector<Json> lines = run(prompts);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["prompt"], "one");
  EXPECT_EQ(lines[0]["ids"], single("one"));
  EXPECT_EQ(lines[1]["prompt"], "two");
  EXPECT_EQ(lines[1]["ids"], single("two"));
  EXPECT_TRUE(lines[1].contains("tokens_per_s"));

  const Json all =
      json({"generate", kModel, "--tokenizer", "bytes", "--max-tokens", "5", "--prompts", prompts});
  ASSERT_EQ(all["results"].size(), 2U);
  EXPECT_EQ(all["results"][1]["ids"], lines[1]["ids"]);
  const std::string objects = file("p.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\"}\n");
  EXPECT_EQ(run(objects)[1]["ids"], lines[1]["ids"]);
  EXPECT_EQ(run("-", {.input_file = prompts})[0]["ids"], lines[0]["ids"]);
}

// How long it takes to the first result depends on the machine: it gets longer until there is one.
TEST_F(ModelCommands, generate_that_is_interrupted_prints_the_prompts_that_are_done) {
  std::string many;
  for (int i = 0; i < 100000; ++i) many += "prompt " + std::to_string(i) + "\n";
  const Words command = {"generate", kModel,      "--tokenizer",       "bytes", "--max-tokens", "5",
                         "--quiet",  "--prompts", file("p.txt", many), "--json"};
  Json results;
  for (auto life = std::chrono::milliseconds(200); results.empty(); life *= 2) {
    ASSERT_LT(life, std::chrono::seconds(60));
    const ProgramRun run = run_sluice(command, {.kill_after = life, .kill_signal = SIGINT});
    ASSERT_EQ(run.exit_code, 130) << run.err;
    EXPECT_TRUE(is_one_error_line(run.err));
    if (!run.out.empty()) results = Json::parse(run.out)["results"];
  }
  ASSERT_LT(results.size(), 100000U);
  EXPECT_EQ(results[0]["prompt"], "prompt 0");
  EXPECT_EQ(results.back()["ids"].size(), 5U) << "none that is cut short";
}

TEST_F(ModelCommands, generate_warns_beyond_the_positions_of_the_model) {
  const std::string model = model_with({{"max_position_embeddings", 16}});
  const auto said = [&](const Words& prompt) {
    Words command = {"generate", model, "--tokenizer", "bytes", "--max-tokens", "10"};
    command.insert(command.end(), prompt.begin(), prompt.end());
    const ProgramRun run = run_sluice(command);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run.err.find("max_position_embeddings") != std::string::npos;
  };
  EXPECT_FALSE(said({"--prompt", "sixof1"}));
  EXPECT_TRUE(said({"--prompt", "sevenof"}));
  EXPECT_TRUE(said({"--prompts", file("p.txt", "one\nseven to be\ntwo\n")}));
}

TEST_F(ModelCommands, generate_samples_by_seed) {
  const auto ids = [&](const std::string& seed) {
    return json({"generate", kModel, "--tokenizer", "bytes", "--prompt", "ab", "--max-tokens", "12",
                 "--temperature", "1", "--seed", seed})["ids"];
  };
  EXPECT_EQ(ids("5"), ids("5"));
  EXPECT_NE(ids("5"), ids("6"));
}

TEST_F(ModelCommands, generate_stops_at_the_end_of_the_text) {
  const Json free =
      json({"generate", kModel, "--tokenizer", "bytes", "--prompt", "ab", "--max-tokens", "4"})["ids"];
  const std::string model = model_with({{"eos_token_id", free[0]}});
  EXPECT_TRUE(json({"generate", model, "--tokenizer", "bytes", "--prompt", "ab", "--max-tokens", "4"})["ids"]
                  .empty());
}

TEST_F(ModelCommands, generate_follows_interventions) {
  const auto text = [&](const std::string& change) {
    return json({"generate", kModel, "--tokenizer", "bytes", "--prompt", "some prompt", "--max-tokens", "4",
                 "--intervene", change});
  };
  EXPECT_EQ(text("logits set=1000 channels=65")["text"], "AAAA");
  EXPECT_EQ(text("logits set=1000 channels=65 positions=12")["ids"][2], 65)
      << "eleven tokens, then 11 and 12";
  EXPECT_NE(text("attn.mixed scale=-3")["ids"], json({"generate", kModel, "--tokenizer", "bytes", "--prompt",
                                                      "some prompt", "--max-tokens", "4"})["ids"]);
}

// Streamed text is out before it is known that nothing was changed; the exit code tells.
TEST_F(ModelCommands, generate_fails_if_an_intervention_met_no_token) {
  const ProgramRun run = run_sluice({"generate", kModel, "--ids", "1,2", "--max-tokens", "3", "--intervene",
                                     "attn.gate set=1 positions=4"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(is_one_error_line(run.err));
  EXPECT_EQ(run_sluice({"generate", kModel, "--ids", "1,2", "--max-tokens", "3", "--intervene",
                        "attn.gate set=1 positions=3"})
                .exit_code,
            0);
}

TEST_F(ModelCommands, generate_without_a_tokenizer_prints_ids) {
  const Json result = json({"generate", kModel, "--ids", "97,98", "--max-tokens", "3"});
  EXPECT_TRUE(result["text"].is_null());
  std::string ids;
  for (const int id : result["ids"]) ids += std::to_string(id) + " ";
  EXPECT_EQ(printed({"generate", kModel, "--ids", "97,98", "--max-tokens", "3", "--quiet"}), ids + "\n");
}

// Mistakes in files; those in arguments are rows of refusal_test.cpp.

TEST_F(ModelCommands, generate_refuses_bad_prompts) {
  const auto run = [&](const std::string& prompts) {
    return run_sluice({"generate", kModel, "--tokenizer", "bytes", "--prompts", prompts});
  };
  EXPECT_REFUSAL(run(path("gone.txt")), 3, "gone.txt: cannot open");
  EXPECT_REFUSAL(run(file("empty.txt", "\n \n")), 3, "empty.txt: no prompts in it");
  EXPECT_REFUSAL(run(file("e.jsonl", "{\"text\": \"a\"}\n{\"text\": \"\"}\n")), 3,
                 "e.jsonl: a prompt has no tokens");
  EXPECT_REFUSAL(run("-"), 3, "standard input: no prompts in it");
}

}  // namespace
}  // namespace sluice::test
