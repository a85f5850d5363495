#include "sluice/probe/tap_pattern.h"

#include <gtest/gtest.h>

#include "tests/base/expect_error.h"

namespace sluice {
namespace {

// The taps of a model with two layers that a pattern means.
std::vector<std::string> taps(std::string_view text) {
  const TapPattern pattern(text);
  std::vector<std::string> names;
  for (const TapPoint& point : points::kAll) {
    const int64_t first = point.place == TapPlace::Model ? TapName::kNoLayer : 0;
    const int64_t last = point.place == TapPlace::Model ? TapName::kNoLayer : 1;
    for (int64_t layer = first; layer <= last; ++layer) {
      const TapName name{layer, point};
      if (pattern.matches(name)) names.push_back(name.text());
    }
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(TapPattern, with_a_layer_means_one_tap) {
  EXPECT_EQ(taps("layers.0.attn.gate"), (Names{"layers.0.attn.gate"}));
  EXPECT_EQ(taps("layers.1.resid"), (Names{"layers.1.resid"}));
  EXPECT_EQ(taps("layers.7.resid"), Names{}) << "there are only two";
}

TEST(TapPattern, without_a_layer_means_that_point_in_every_layer) {
  EXPECT_EQ(taps("attn.q"), (Names{"layers.0.attn.q", "layers.1.attn.q"}));
  EXPECT_EQ(taps("layers.*.attn.q"), taps("attn.q"));
  EXPECT_EQ(taps("layers.0-.attn.q"), taps("attn.q"));
  EXPECT_EQ(taps("layers.0,1.attn.q"), taps("attn.q"));
}

TEST(TapPattern, outside_the_layers_means_the_one_that_there_is) {
  EXPECT_EQ(taps("logits"), Names{"logits"});
  EXPECT_EQ(taps("embedding"), Names{"embedding"});
  EXPECT_EQ(taps("final.norm"), Names{"final.norm"});
}

TEST(TapPattern, is_a_whole_name_and_not_the_start_of_one) {
  EXPECT_EQ(taps("layers.0.attn.gate"), (Names{"layers.0.attn.gate"})) << "neither gated nor gate_g2";
  EXPECT_EQ(taps("layers.0.resid"), (Names{"layers.0.resid"})) << "not resid_mid";
}

TEST(TapPattern, with_a_star_means_any_text_in_its_place) {
  EXPECT_EQ(taps("layers.0.mlp.*"),
            (Names{"layers.0.mlp.input", "layers.0.mlp.router", "layers.0.mlp.experts",
                   "layers.0.mlp.expert_out", "layers.0.mlp.shared_gate", "layers.0.mlp.out"}));
  EXPECT_EQ(taps("layers.0.*.out"), (Names{"layers.0.attn.out", "layers.0.mlp.out"}));
  EXPECT_EQ(taps("layers.0.attn.gate_*").size(), 4U);
  EXPECT_EQ(taps("layers.1.attn.gate*").size(), 6U) << "a star may stand for nothing";
  EXPECT_EQ(taps("layers.1.*d").size(), 4U) << "attn.mixed, attn.gated, resid_mid, resid";
  EXPECT_EQ(taps("*.norm"), Names{"final.norm"});
  EXPECT_EQ(taps("*").size(), 3 + 2 * (points::kAll.size() - 3)) << "everything";
  EXPECT_EQ(taps("layers.*.*").size(), 2 * (points::kAll.size() - 3)) << "everything inside the layers";
}

// A search that tries every way to share a name out among the stars would not end.
TEST(TapPattern, with_many_stars_is_read_at_once) {
  EXPECT_EQ(taps(std::string(64, '*')), taps("*"));
  EXPECT_EQ(taps(std::string(60, '*') + "norm"), Names{"final.norm"});
  EXPECT_THROW(TapPattern(std::string(63, '*') + "z"), Error);
}

TEST(TapPattern, keeps_its_text_and_layers) {
  const TapPattern pattern("layers.2,5-7.attn.gate");
  EXPECT_EQ(pattern.text(), "layers.2,5-7.attn.gate");
  EXPECT_EQ(pattern.layers().largest(), 7);
  EXPECT_TRUE(TapPattern("attn.gate").layers().is_all());
  EXPECT_TRUE(pattern.matches_point(points::kGate));
  EXPECT_FALSE(pattern.matches_point(points::kQuery));
}

TEST(TapPattern, refuses_a_name_that_no_tap_has_with_the_nearest) {
  EXPECT_ERROR(TapPattern("atn.gate"), ErrorKind::Usage,
               "no tap fits \"atn.gate\" (did you mean \"attn.gate\"?)");
  EXPECT_ERROR(TapPattern("layers.3.attn.gat"), ErrorKind::Usage,
               "no tap fits \"layers.3.attn.gat\" (did you mean \"attn.gate\"?)");
  EXPECT_ERROR(TapPattern("logit"), ErrorKind::Usage, "no tap fits \"logit\" (did you mean \"logits\"?)");
}

TEST(TapPattern, refuses_other_nonsense) {
  for (const char* text : {"", "layers.0", "layers.0.", "layers.0.nothing", "Attn.gate", "attn.gate ",
                           "layers.0.logits", "layers.0.embedding", "x*"}) {
    EXPECT_THROW(TapPattern{text}, Error) << text;
  }
  EXPECT_ERROR(TapPattern("layers.x.attn.q"), ErrorKind::Usage,
               "bad list of indices: expected numbers and ranges such as 0,3-5,8-, got \"x\"");
  EXPECT_ERROR(TapPattern("layers..attn.q"), ErrorKind::Usage,
               "bad list of indices: expected numbers and ranges such as 0,3-5,8-, got \"\"");
  EXPECT_ERROR(TapPattern(std::string(65, 'a')), ErrorKind::Usage,
               "bad tap: expected a short name, got \"" + std::string(40, 'a') + "...\"");
}

}  // namespace
}  // namespace sluice
