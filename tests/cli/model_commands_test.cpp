// What the commands on models put into tensors; the rest is in tests/commands/models.test and trace.test.
#include "tests/cli/model_commands.h"

namespace sluice::test {
namespace {

TEST_F(ModelCommands, params_counts_the_elements_of_the_file) {
  for (const std::string& name : kGoldens) {
    EXPECT_EQ(json({"params", golden(name)})["total"],
              TensorFile(golden(name) + "/model.safetensors").elements());
  }
}

TEST_F(ModelCommands, init_stores_matrices_in_the_type_asked_for) {
  const Json told = json({"init", kModel, path("new"), "--dtype", "bf16"});
  const TensorFile tensors(path("new/model.safetensors"));
  EXPECT_EQ(tensors.elements(), told["parameters"]);
  EXPECT_EQ(tensors.dtype("model.embed_tokens.weight"), "BF16");
  EXPECT_EQ(tensors.dtype("model.norm.weight"), "F32");
}

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

}  // namespace
}  // namespace sluice::test
