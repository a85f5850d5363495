// What comes along with the weights: other files and keys of the configuration.
#include "sluice/base/file.h"
#include "sluice/model/config_reader.h"
#include "tests/model/conversions.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

TEST_F(Conversions, files_that_say_nothing_of_the_weights_come_along) {
  fs::copy(golden("tiny_gate_elementwise"), path("model"));
  const std::vector<std::string> names = {"tokenizer.json",          "tokenizer_config.json", "vocab.json",
                                          "special_tokens_map.json", "added_tokens.json",     "merges.txt",
                                          "generation_config.json",  "chat_template.jinja"};
  for (const std::string& name : names) directory_.file("model/" + name, "content of " + name);
  directory_.file("model/merges.txt", "");
  directory_.file("model/notes.txt", "mine");
  const fs::path out = converted(path("model"), Route{kSeparate});
  for (const std::string& name : names) {
    EXPECT_EQ(read_text(out / name, 100), name == "merges.txt" ? "" : "content of " + name);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(out), {}), static_cast<std::ptrdiff_t>(names.size()) + 2)
      << "these, config.json and model.safetensors";
}

class CarriedKeys : public Conversions {
 protected:
  nlohmann::json config_of(const fs::path& model) const {
    return nlohmann::json::parse(read_text(model / "config.json", 100'000));
  }

  // The golden with these keys in its config.json.
  fs::path golden_with(const nlohmann::json& keys) {
    fs::copy(golden("tiny_gate_elementwise"), path("model"));
    nlohmann::json config = config_of(path("model"));
    config.update(keys);
    directory_.file("model/config.json", config.dump());
    return path("model");
  }
};

TEST_F(CarriedKeys, are_those_that_others_may_need) {
  const nlohmann::json keys = {
      {"bos_token_id", 1},      {"pad_token_id", 2},      {"initializer_range", 0.01},
      {"torch_dtype", "x"},     {"dtype", "y"},           {"attention_dropout", 0.5},
      {"use_cache", false},     {"eos_token_id", {3, 4}}, {"max_window_layers", 5},
      {"_name_or_path", "here"}};
  const nlohmann::json config = config_of(converted(golden_with(keys), Route{kSeparate}));
  for (const char* key : {"bos_token_id", "pad_token_id", "initializer_range", "torch_dtype", "dtype",
                          "attention_dropout", "use_cache", "eos_token_id"}) {
    EXPECT_EQ(config.value(key, nlohmann::json()), keys[key]) << key;
  }
  EXPECT_FALSE(config.contains("_name_or_path")) << "it is another model now";
  EXPECT_FALSE(config.contains("elementwise_attn_output_gate")) << "the gate is told in another way";
  EXPECT_EQ(config["gates"].size(), 1U);
}

TEST_F(CarriedKeys, name_the_type_that_was_asked_for) {
  const fs::path model = golden_with({{"dtype", "float32"}});
  const nlohmann::json bf16 = config_of(converted(model, Conversion{.dtype = StoredType::BF16}));
  EXPECT_EQ(bf16["torch_dtype"], "bfloat16");
  EXPECT_EQ(bf16["dtype"], "bfloat16");
  const nlohmann::json f16 = config_of(converted(model, Conversion{.dtype = StoredType::F16}));
  EXPECT_EQ(f16["torch_dtype"], "float16");
  const nlohmann::json same = config_of(converted(model, Conversion{}));
  EXPECT_EQ(same["torch_dtype"], "float32");
}

}  // namespace
}  // namespace sluice
