// The commands that count, make, convert and trace models, as a black box.
#include <algorithm>

#include "tests/cli/model_commands.h"

namespace sluice::test {
namespace {

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
  EXPECT_GT(json({"eval", path("new"), "--tokenizer", "bytes", "--data", file("a.txt", "some text")})["nll"],
            1.0);
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
    const int64_t parameters = json({"params", golden(name)})["total"];
    EXPECT_EQ(printed({"convert", golden(name), there, "--layout", "separate"}),
              std::to_string(parameters) + " parameters written to " + there + "\n");
    EXPECT_EQ(json({"convert", there, back, "--layout", "official"}),
              (Json{{"out", back}, {"parameters", parameters}}));
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
  const std::string text =
      printed({"trace", kModel, "--tokenizer", "bytes", "--prompt", "ab", "--out", path("t")});
  EXPECT_NE(text.find("logits                  [2, 128]\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("written to " + path("t") + "\n"));
  const Json told = json({"trace", kModel, "--tokenizer", "bytes", "--prompt", "ab", "--out", path("t")});
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
