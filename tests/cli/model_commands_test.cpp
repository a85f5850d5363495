// The commands that make, convert and run models, as a black box on the tiny official checkpoints. Their
// tokens are bytes below 128.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <sstream>

#include "tests/base/temporary_directory.h"
#include "tests/cli/expect_refusal.h"
#include "tests/cli/tensor_file.h"
#include "tests/data/gzip_bytes.h"

namespace sluice::test {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::json;
using Words = std::vector<std::string>;

const std::vector<std::string> kGoldens = {"tiny_baseline", "tiny_gate_headwise", "tiny_gate_elementwise"};

std::string golden(const std::string& name) {
  return std::string(SLUICE_GOLDENS) + "/" + name;
}

const std::string kModel = golden("tiny_gate_elementwise");

class ModelCommands : public testing::Test {
 protected:
  // What a command prints that succeeds and has nothing to say beside it.
  static std::string printed(const Words& arguments, const RunOptions& options = {}) {
    const ProgramRun run = run_sluice(arguments, options);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    return run.out;
  }

  static Json json(Words arguments, const RunOptions& options = {}) {
    arguments.insert(arguments.end(), {"--json", "--quiet"});
    const std::string text = printed(arguments, options);
    EXPECT_TRUE(text.ends_with('\n'));
    return Json::parse(text, nullptr, false);
  }

  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }
  std::string file(const std::string& name, std::string_view content) const {
    return directory_.file(name, content).string();
  }

  // A copy of a golden with these keys in its config.json.
  std::string model_with(const Json& keys) const {
    fs::copy(kModel, path("model"));
    std::ifstream old(kModel + "/config.json");
    Json config = Json::parse(old);
    config.update(keys);
    file("model/config.json", config.dump());
    return path("model");
  }

  TemporaryDirectory directory_;
};

void expect_near(const std::vector<float>& got, const std::vector<float>& expected, float tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], tolerance) << "element " << i;
}

// "12 7 33": the tokens that the official code was run on.
std::string golden_ids(const std::string& name, const char* between) {
  std::string ids;
  for (const int64_t id : TensorFile(golden(name) + "/expected.safetensors").values<int64_t>("input_ids"))
    ids += (ids.empty() ? "" : between) + std::to_string(id);
  return ids;
}

// params

TEST_F(ModelCommands, params_counts_the_elements_of_the_file) {
  for (const std::string& name : kGoldens) {
    const Json counted = json({"params", golden(name)});
    EXPECT_EQ(counted["total"], TensorFile(golden(name) + "/model.safetensors").elements());
    EXPECT_EQ(json({"params", golden(name) + "/config.json"}), counted);
    EXPECT_EQ(counted["parts"]["gates"] != 0, name != "tiny_baseline");
  }
  EXPECT_NE(printed({"params", kModel}).find("\ntotal "), std::string::npos);
}

// init

TEST_F(ModelCommands, init_makes_a_model_that_runs) {
  const std::string said = printed({"init", kModel, path("new")});
  const TensorFile tensors(path("new/model.safetensors"));
  EXPECT_EQ(said, std::to_string(tensors.elements()) + " parameters written to " + path("new") + "\n");
  EXPECT_EQ(json({"params", path("new")}), json({"params", kModel}));
  EXPECT_GT(json({"eval", path("new"), "--data", file("a.txt", "some text")})["nll"], 1.0);
  EXPECT_EQ(std::distance(fs::directory_iterator(path("new")), {}), 2);
}

TEST_F(ModelCommands, init_follows_its_seed_on_any_number_of_threads) {
  const auto made = [&](const std::string& name, const Words& more) {
    Words arguments = {"init", kModel, path(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    printed(arguments);
    return TensorFile(path(name + "/model.safetensors")).bytes("model.embed_tokens.weight");
  };
  const std::string one = made("a", {"--seed", "1", "--threads", "1"});
  EXPECT_EQ(made("b", {"--seed", "1", "--threads", "2"}), one);
  EXPECT_NE(made("c", {"--seed", "2"}), one);
  EXPECT_EQ(made("d", {"--seed", "0"}), made("e", {}));
}

TEST_F(ModelCommands, init_stores_matrices_in_the_type_asked_for) {
  EXPECT_EQ(json({"init", kModel, path("new"), "--dtype", "bf16"}),
            (Json{{"out", path("new")}, {"parameters", json({"params", kModel})["total"]}}));
  const TensorFile tensors(path("new/model.safetensors"));
  EXPECT_EQ(tensors.dtype("model.embed_tokens.weight"), "BF16");
  EXPECT_EQ(tensors.dtype("model.norm.weight"), "F32");
}

// convert

TEST_F(ModelCommands, convert_to_separate_gates_and_back_keeps_every_byte) {
  for (const std::string name : {"tiny_gate_headwise", "tiny_gate_elementwise"}) {
    const std::string there = path(name + "-there"), back = path(name + "-back");
    EXPECT_EQ(printed({"convert", golden(name), there, "--layout", "separate"}),
              "written to " + there + "\n");
    EXPECT_EQ(json({"convert", there, back, "--layout", "official"}), (Json{{"out", back}}));
    const TensorFile before(golden(name) + "/model.safetensors"), after(back + "/model.safetensors");
    EXPECT_TRUE(
        TensorFile(there + "/model.safetensors").contains("model.layers.0.self_attn.gate_proj.weight"));
    ASSERT_EQ(after.names(), before.names());
    for (const std::string& tensor : before.names())
      EXPECT_TRUE(after.bytes(tensor) == before.bytes(tensor)) << tensor;
  }
}

TEST_F(ModelCommands, convert_writes_the_type_asked_for) {
  for (const auto& [option, stored] : {std::pair{"bf16", "BF16"}, {"f16", "F16"}, {"f32", "F32"}}) {
    printed({"convert", kModel, path(option), "--dtype", option});
    const TensorFile tensors(path(option) + "/model.safetensors");
    for (const std::string& name : tensors.names()) EXPECT_EQ(tensors.dtype(name), stored) << name;
  }
}

TEST_F(ModelCommands, convert_gives_a_qwen3_next_model_with_the_same_likelihood) {
  printed({"convert", kModel, path("next"), "--layout", "qwen3-next"});
  const std::string ids = file("ids.txt", golden_ids("tiny_gate_elementwise", " "));
  EXPECT_NEAR(json({"eval", path("next"), "--ids-file", ids})["nll"].get<double>(),
              json({"eval", kModel, "--ids-file", ids})["nll"].get<double>(), 1e-5);
}

// trace

TEST_F(ModelCommands, trace_writes_what_the_official_code_computed) {
  for (const std::string& name : kGoldens) {
    const std::string ids = golden_ids(name, ","), out = path(name);
    printed({"trace", golden(name), "--ids", ids, "--out", out});
    const TensorFile got(out), expected(golden(name) + "/expected.safetensors");
    expect_near(got.values<float>("logits"), expected.values<float>("logits"), 2e-4F);
    expect_near(got.values<float>("hidden"), expected.values<float>("hidden"), 2e-4F);
    expect_near(got.values<float>("attn"), expected.values<float>("attn"), 1e-5F);
    EXPECT_EQ(got.metadata()["ids"], ids);
    ASSERT_EQ(got.contains("gates"), name != "tiny_baseline");
    if (!got.contains("gates")) continue;
    expect_near(got.values<float>("gates"), expected.values<float>("gates"), 1e-5F);
    EXPECT_EQ(got.metadata()["gate_layers"], "0,1,2");
  }
}

TEST_F(ModelCommands, trace_lists_what_it_wrote) {
  const std::string text = printed({"trace", kModel, "--prompt", "ab", "--out", path("t")});
  EXPECT_NE(text.find("logits                  [2, 128]\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("written to " + path("t") + "\n"));
  const Json told = json({"trace", kModel, "--prompt", "ab", "--out", path("t")});
  EXPECT_EQ(told["ids"], (Json{97, 98}));
  EXPECT_EQ(told["out"], path("t"));
  EXPECT_EQ(told["tensors"]["hidden"], (Json{4, 2, 32}));
  EXPECT_EQ(told["tensors"]["gates"], (Json{3, 2, 4, 8}));
}

TEST_F(ModelCommands, trace_captures_more_taps) {
  const Words arguments = {"trace", kModel, "--ids", "1,2,3", "--out", path("t"), "--capture"};
  Words several = arguments;
  several.insert(several.end(),
                 {"layers.0-1.attn.q", "--capture", "layers.1.mlp.*", "--capture", "final.norm"});
  printed(several);
  const TensorFile got(path("t"));
  EXPECT_EQ(got.names(), (Words{"attn", "final.norm", "gates", "hidden", "layers.0.attn.q", "layers.1.attn.q",
                                "layers.1.mlp.input", "layers.1.mlp.out", "logits"}));
  EXPECT_EQ(got.shape("layers.1.attn.q"), (std::vector<int64_t>{3, 4, 8}));
  EXPECT_EQ(got.shape("final.norm"), (std::vector<int64_t>{3, 32}));
  Words everything = arguments;
  everything.emplace_back("*");
  printed(everything);
  EXPECT_EQ(TensorFile(path("t")).values<float>("layers.2.resid").size(), 3U * 32);
}

TEST_F(ModelCommands, trace_shows_interventions) {
  printed({"trace", kModel, "--ids", "1,2,3", "--out", path("t"), "--intervene",
           "layers.1.attn.gate set=0.25", "--intervene", "layers.1.attn.gate scale=2 heads=0"});
  const std::vector<float> gates = TensorFile(path("t")).values<float>("gates");
  for (size_t i = 0; i < 3 * 4 * 8; ++i) {
    const bool first_head = i / 8 % 4 == 0;
    ASSERT_EQ(gates[3 * 4 * 8 + i], first_head ? 0.5F : 0.25F) << i;
  }
}

// eval

TEST_F(ModelCommands, eval_gives_the_likelihood_of_the_official_code) {
  for (const std::string& name : kGoldens) {
    std::ifstream expected(golden(name) + "/expected.json");
    const Json result = json({"eval", golden(name), "--ids-file", file("ids.txt", golden_ids(name, "\n"))});
    EXPECT_NEAR(result["nll"].get<double>(), Json::parse(expected)["nll"].get<double>(), 1e-4) << name;
    EXPECT_EQ(result["tokens"], 23);
    EXPECT_EQ(result["chunks"], 1);
    EXPECT_TRUE(result["bits_per_byte"].is_null()) << "ids have no bytes";
  }
}

TEST_F(ModelCommands, eval_reads_the_same_text_from_every_kind_of_file) {
  const std::string text = "the cat\nand the hat\n";
  const Json expected = json({"eval", kModel, "--data", file("a.txt", text)});
  EXPECT_EQ(expected["tokens"], text.size() - 1);
  const std::string lines = "{\"text\": \"the cat\"}\n\n{\"text\": \"and the hat\"}\n";
  EXPECT_EQ(json({"eval", kModel, "--data", file("a.jsonl", lines)}), expected);
  EXPECT_EQ(json({"eval", kModel, "--data", file("a.txt.gz", gzipped(text))}), expected);
  EXPECT_EQ(json({"eval", kModel, "--data", file("a.jsonl.gz", gzipped(lines))}), expected);
  EXPECT_EQ(json({"eval", kModel, "--data", "-"}, {.input_file = path("a.txt")}), expected);
  EXPECT_EQ(json({"eval", kModel, "--data", "-"}, {.input_file = path("a.txt.gz")}), expected);
  EXPECT_EQ(json({"eval", kModel, "--data", file("b.txt", "the cat\n"), file("c.txt", "and the hat\n")}),
            expected);
}

TEST_F(ModelCommands, eval_tells_bits_per_byte) {
  const Json result = json({"eval", kModel, "--data", file("a.txt", "bytes are tokens here")});
  EXPECT_NEAR(result["bits_per_byte"].get<double>(), result["nll"].get<double>() / std::numbers::ln2, 1e-9);
  EXPECT_NEAR(result["ppl"].get<double>(), std::exp(result["nll"].get<double>()), 1e-6);
  const std::string text = printed({"eval", kModel, "--data", path("a.txt")});
  for (const char* part : {"perplexity ", "nll ", "bits per byte ", "(one chunk: no interval)",
                           "weights         f32", "20 predicted tokens, 1 chunk of 21"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in:\n" << text;
}

TEST_F(ModelCommands, eval_cuts_into_chunks) {
  const std::string text = file("a.txt", std::string(95, 'x'));
  const Json all = json({"eval", kModel, "--data", text, "--chunk", "10"});
  EXPECT_EQ(all["chunks"], 9) << "whole ones";
  EXPECT_EQ(all["tokens"], 9 * 9) << "the first of each is not predicted";
  EXPECT_EQ(json({"eval", kModel, "--data", text, "--chunk", "10", "--chunks", "3"})["chunks"], 3);
  EXPECT_LE(all["ci95"][0], all["ppl"]);
  EXPECT_GE(all["ci95"][1], all["ppl"]);
}

TEST_F(ModelCommands, eval_measures_interventions) {
  const std::string text = file("a.txt", std::string(100, 'x') + "some more text that is no repetition");
  const auto nll = [&](const Words& more) {
    Words arguments = {"eval", kModel, "--data", text};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json(arguments)["nll"].get<double>();
  };
  const double clean = nll({});
  EXPECT_NEAR(nll({"--intervene", "attn.gate scale=1"}), clean, 1e-6);
  for (const std::string change : {"set=0", "mean", "shuffle", "invert"})
    EXPECT_NE(nll({"--intervene", "attn.gate " + change}), clean) << change;
  EXPECT_EQ(nll({"--intervene", "attn.gate shuffle=3"}), nll({"--intervene", "attn.gate shuffle=3"}));
  EXPECT_NEAR(nll({"--intervene", "logits set=0"}), std::log(128), 1e-5) << "every token as likely as any";
}

TEST_F(ModelCommands, eval_in_bf16_is_close) {
  const std::string ids = file("ids.txt", golden_ids("tiny_gate_elementwise", " "));
  const double f32 = json({"eval", kModel, "--ids-file", ids})["nll"].get<double>();
  const double bf16 = json({"eval", kModel, "--ids-file", ids, "--dtype", "bf16"})["nll"].get<double>();
  EXPECT_NEAR(bf16, f32, 0.05);
  EXPECT_NE(bf16, f32);
}

TEST_F(ModelCommands, eval_in_int8_is_close) {
  for (const std::string& name : kGoldens) {
    const std::string ids = file("ids.txt", golden_ids(name, " "));
    const double f32 = json({"eval", golden(name), "--ids-file", ids})["nll"].get<double>();
    const double int8 =
        json({"eval", golden(name), "--ids-file", ids, "--dtype", "int8"})["nll"].get<double>();
    EXPECT_NEAR(int8, f32, 0.05) << name;
    EXPECT_NE(int8, f32) << name;
  }
}

TEST_F(ModelCommands, eval_compares_types_of_weights_on_the_same_chunks) {
  const std::string text = file("a.txt", "some text that is no repetition of what was there before");
  const auto eval = [&](const Words& more) {
    Words arguments = {"eval", kModel, "--data", text, "--chunk", "10"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json(arguments);
  };
  const Json int8 = eval({"--dtype", "int8"}), f32 = eval({});
  Json both = eval({"--dtype", "int8", "--against", "f32"});
  const Json difference = both["difference"];
  EXPECT_EQ(both["against"],
            (Json{{"dtype", "f32"}, {"nll", f32["nll"]}, {"ppl", f32["ppl"]}, {"ci95", f32["ci95"]}}));
  EXPECT_NEAR(difference["ppl"].get<double>(), int8["ppl"].get<double>() - f32["ppl"].get<double>(), 1e-9);
  EXPECT_NEAR(difference["nll"].get<double>(), int8["nll"].get<double>() - f32["nll"].get<double>(), 1e-12);
  EXPECT_LE(difference["ci95"][0], difference["ppl"]);
  EXPECT_GE(difference["ci95"][1], difference["ppl"]);
  both.erase("against");
  both.erase("difference");
  EXPECT_EQ(both, int8) << "the rest is as without the comparison";
  // Chunks differ by far more than types: only drawn in pairs do they say something about the types.
  const auto width = [](const Json& interval) {
    return interval[1].get<double>() - interval[0].get<double>();
  };
  EXPECT_LT(width(difference["ci95"]), 0.5 * width(int8["ci95"]));
}

TEST_F(ModelCommands, eval_tells_a_person_the_difference) {
  const std::string text = printed({"eval", kModel, "--data", file("a.txt", "some text"), "--chunk", "4",
                                    "--dtype", "int8", "--against", "bf16", "--quiet"});
  for (const char* part :
       {"perplexity ", "with bf16 ", "difference ", "the same chunks in both", "weights         int8"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in:\n" << text;
}

TEST_F(ModelCommands, eval_refuses_to_compare_a_type_with_itself) {
  const std::string text = file("a.txt", "some text");
  EXPECT_REFUSAL(run_sluice({"eval", kModel, "--data", text, "--against", "f32"}), 2,
                 "eval: --against f32 is what is evaluated already");
  EXPECT_REFUSAL(run_sluice({"eval", kModel, "--data", text, "--dtype", "int8", "--against", "int8"}), 2,
                 "--against int8 is what is evaluated already");
}

// generate

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
  const Json result = json({"generate", kModel, "--prompt", "ab", "--max-tokens", "9"});
  Words keys;
  for (const auto& [key, value] : result.items()) keys.push_back(key);
  EXPECT_EQ(keys, (Words{"ids", "prompt_tokens_per_s", "text", "tokens_per_s"}));
  ASSERT_EQ(result["ids"].size(), 9U);
  std::string text;
  for (const int id : result["ids"]) text += static_cast<char>(id);
  EXPECT_EQ(result["text"], text) << "tokens are bytes";
  EXPECT_GT(result["prompt_tokens_per_s"], 0.0);
  EXPECT_GT(result["tokens_per_s"], 0.0);
  EXPECT_EQ(printed({"generate", kModel, "--prompt", "ab", "--max-tokens", "9", "--quiet"}), text + "\n");
  EXPECT_EQ(json({"generate", kModel, "--ids", "97,98", "--max-tokens", "9"})["ids"], result["ids"]);
}

TEST_F(ModelCommands, generate_tells_its_speed_on_stderr) {
  const ProgramRun run = run_sluice({"generate", kModel, "--prompt", "ab", "--max-tokens", "3"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.err.find("2 prompt tokens at "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find(" 3 new at "), std::string::npos) << run.err;
}

TEST_F(ModelCommands, generate_continues_many_prompts) {
  const auto single = [&](const std::string& prompt) {
    return json({"generate", kModel, "--prompt", prompt, "--max-tokens", "5"})["ids"];
  };
  const std::string prompts = file("p.txt", "one\n\ntwo\r\n");
  const Words command = {"generate", kModel, "--max-tokens", "5", "--quiet", "--prompts"};
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

  const Json all = json({"generate", kModel, "--max-tokens", "5", "--prompts", prompts});
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
  const Words command = {"generate", kModel,      "--max-tokens",      "5",
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
    Words command = {"generate", model, "--max-tokens", "10"};
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
    return json({"generate", kModel, "--prompt", "ab", "--max-tokens", "12", "--temperature", "1", "--seed",
                 seed})["ids"];
  };
  EXPECT_EQ(ids("5"), ids("5"));
  EXPECT_NE(ids("5"), ids("6"));
}

TEST_F(ModelCommands, generate_stops_at_the_end_of_the_text) {
  const Json free = json({"generate", kModel, "--prompt", "ab", "--max-tokens", "4"})["ids"];
  const std::string model = model_with({{"eos_token_id", free[0]}});
  EXPECT_TRUE(json({"generate", model, "--prompt", "ab", "--max-tokens", "4"})["ids"].empty());
}

TEST_F(ModelCommands, generate_follows_interventions) {
  const auto text = [&](const std::string& change) {
    return json({"generate", kModel, "--prompt", "some prompt", "--max-tokens", "4", "--intervene", change});
  };
  EXPECT_EQ(text("logits set=1000 channels=65")["text"], "AAAA");
  EXPECT_EQ(text("logits set=1000 channels=65 positions=12")["ids"][2], 65)
      << "eleven tokens, then 11 and 12";
  EXPECT_NE(text("attn.mixed scale=-3")["ids"],
            json({"generate", kModel, "--prompt", "some prompt", "--max-tokens", "4"})["ids"]);
}

// Mistakes in files; those in arguments are rows of refusal_test.cpp.

TEST_F(ModelCommands, init_and_convert_replace_nothing) {
  fs::create_directory(path("full"));
  file("full/notes.txt", "mine");
  const std::string hint = "full: is not empty (give a name that does not exist yet)";
  EXPECT_REFUSAL(run_sluice({"init", kModel, path("full")}), 1, hint);
  EXPECT_REFUSAL(run_sluice({"convert", kModel, path("full")}), 1, hint);
  EXPECT_REFUSAL(run_sluice({"init", kModel, path("full/notes.txt")}), 1, "notes.txt: is not a directory");
  EXPECT_EQ(std::distance(fs::directory_iterator(path("full")), {}), 1);
}

TEST_F(ModelCommands, convert_refuses_what_a_layout_cannot_express) {
  EXPECT_REFUSAL(run_sluice({"convert", golden("tiny_gate_headwise"), path("o"), "--layout", "qwen3-next"}),
                 3, "cannot be written in the layout qwen3-next (its gate is elementwise)");
  EXPECT_REFUSAL(run_sluice({"convert", golden("tiny_baseline"), path("o"), "--layout", "qwen3-next"}), 3,
                 "this model has none");
  EXPECT_EQ(directory_.entries(), 0U);
}

TEST_F(ModelCommands, trace_fails_where_it_cannot_write) {
  EXPECT_REFUSAL(run_sluice({"trace", kModel, "--ids", "1", "--out", path("gone/t")}), 1, "gone/t");
}

TEST_F(ModelCommands, eval_refuses_bad_text) {
  const auto run = [&](const std::string& data) { return run_sluice({"eval", kModel, "--data", data}); };
  EXPECT_REFUSAL(run(path("gone.txt")), 3, "gone.txt: cannot open");
  EXPECT_REFUSAL(run(file("empty.txt", "")), 3, "nothing to predict: expected at least 2 tokens, got 0");
  EXPECT_REFUSAL(run(file("one.txt", "x")), 3, "at least 2 tokens, got 1");
  EXPECT_REFUSAL(run(file("plain.gz", "text")), 3, "plain.gz: not a gzip file");
  EXPECT_REFUSAL(run(file("cut.gz", gzipped("some text").substr(0, 20))), 3, "the gzip file is cut off");
  EXPECT_REFUSAL(run(file("bad.jsonl", "{\"text\": \"a\"}\n{\"text\": 1}\n")), 3,
                 "bad.jsonl: line 2: text: expected string, got 1");
  EXPECT_REFUSAL(run(file("latin.txt", "caf\xc3\xa9")), 3,
                 "the tokenizer does not fit the model: expected token ids below 128, got 195");
  EXPECT_REFUSAL(run("-"), 3, "nothing to predict");
}

TEST_F(ModelCommands, eval_refuses_bad_ids) {
  const auto run = [&](const std::string& ids) {
    return run_sluice({"eval", kModel, "--ids-file", file("ids.txt", ids)});
  };
  EXPECT_REFUSAL(run("1 2 128"), 3, "ids.txt: bad token id: expected integer from 0 to 127, got \"128\"");
  EXPECT_REFUSAL(run("1 two"), 3, "got \"two\"");
  EXPECT_REFUSAL(run(""), 3, "nothing to predict");
}

TEST_F(ModelCommands, generate_refuses_bad_prompts) {
  const auto run = [&](const std::string& prompts) {
    return run_sluice({"generate", kModel, "--prompts", prompts});
  };
  EXPECT_REFUSAL(run(path("gone.txt")), 3, "gone.txt: cannot open");
  EXPECT_REFUSAL(run(file("empty.txt", "\n \n")), 3, "empty.txt: no prompts in it");
  EXPECT_REFUSAL(run(file("e.jsonl", "{\"text\": \"a\"}\n{\"text\": \"\"}\n")), 3,
                 "e.jsonl: a prompt has no tokens");
  EXPECT_REFUSAL(run("-"), 3, "standard input: no prompts in it");
}

TEST_F(ModelCommands, a_model_without_its_weights_is_refused_by_all) {
  fs::create_directory(path("model"));
  fs::copy(kModel + "/config.json", path("model/config.json"));
  const std::vector<Words> commands = {{"trace", path("model"), "--ids", "1", "--out", path("t")},
                                       {"eval", path("model"), "--ids-file", file("ids.txt", "1 2")},
                                       {"generate", path("model"), "--ids", "1"},
                                       {"convert", path("model"), path("out")}};
  for (const Words& command : commands) {
    SCOPED_TRACE(command[0]);
    EXPECT_REFUSAL(run_sluice(command), 3, "expected a model directory with model.safetensors");
  }
}

TEST_F(ModelCommands, a_mixture_of_experts_is_counted_but_not_made) {
  const std::string config = file("moe.json", R"({"model_type": "qwen3_moe", "vocab_size": 100,
      "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_experts": 4,
      "num_experts_per_tok": 2, "moe_intermediate_size": 16})");
  EXPECT_LT(json({"params", config})["active"], json({"params", config})["total"]);
  EXPECT_REFUSAL(run_sluice({"init", config, path("new")}), 3, "mixture-of-experts");
  EXPECT_FALSE(fs::exists(path("new")));
}

}  // namespace
}  // namespace sluice::test
