#include "sluice/model/initialisation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "sluice/model/config_reader.h"
#include "sluice/model/decoder.h"

namespace sluice {
namespace {

// What the parameters of the small model with an elementwise gate start with, by name.
std::map<std::string, double> stds_of(const Initialisation& start) {
  const Decoder decoder(load_model_config("tiny-elementwise"));
  std::map<std::string, double> stds;
  for (const NamedParameter& named : decoder.parameters())
    stds[named.parameter->name] = starting_std(named, start, decoder.layers());
  return stds;
}

constexpr const char* kQuery = "model.layers.0.self_attn.q_proj.weight";
constexpr const char* kOut = "model.layers.1.self_attn.o_proj.weight";
constexpr const char* kDown = "model.layers.1.mlp.down_proj.weight";
constexpr const char* kGate = "model.layers.0.self_attn.gate_proj.weight";
constexpr const char* kEmbedding = "model.embed_tokens.weight";

TEST(Initialisation, is_what_the_layers_say_by_default) {
  const Decoder decoder(load_model_config("tiny-elementwise"));
  for (const NamedParameter& named : decoder.parameters())
    EXPECT_EQ(starting_std(named, {}, decoder.layers()), named.std) << named.parameter->name;
}

TEST(Initialisation, goes_by_the_inputs_of_a_matrix_with_a_gain) {
  const auto stds = stds_of({.gain = 0.5});
  EXPECT_DOUBLE_EQ(stds.at(kQuery), 0.5 / std::sqrt(64));
  EXPECT_DOUBLE_EQ(stds.at(kDown), 0.5 / std::sqrt(176));
  EXPECT_EQ(stds.at(kEmbedding), kUsualStd) << "it has no inputs";
  EXPECT_EQ(stds.at("model.norm.weight"), 0);
}

TEST(Initialisation, makes_what_is_added_to_the_residual_smaller_by_depth) {
  const auto stds = stds_of({.std = 0.1, .residual_by_depth = true, .attention_output = 0.5});
  EXPECT_EQ(stds.at(kQuery), 0.1);
  EXPECT_DOUBLE_EQ(stds.at(kOut), 0.05 / std::sqrt(4)) << "two layers";
  EXPECT_DOUBLE_EQ(stds.at(kDown), 0.1 / std::sqrt(4));
}

TEST(Initialisation, leaves_gates_alone_and_lets_embeddings_have_their_own) {
  const auto stds = stds_of({.std = 0.1, .embedding = 0.3});
  EXPECT_EQ(stds.at(kGate), kUsualStd);
  EXPECT_EQ(stds.at(kEmbedding), 0.3);
}

}  // namespace
}  // namespace sluice
