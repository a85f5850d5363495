// Interventions as people write them; what they do is in intervention_test.cpp.
#include <gtest/gtest.h>

#include "sluice/probe/intervention.h"
#include "tests/base/expect_error.h"
#include "tests/model/small_model.h"

namespace sluice {
namespace {

// Three layers, four heads of eight channels, two of keys and values; a gate on attention's output in the
// last two layers, one on values in all.
ModelConfig model() {
  ModelConfig config = small_model(
      GateLayout::Separate,
      {{.layers = {1, 2}}, {.position = GatePosition::G2, .form = {.granularity = Granularity::Headwise}}});
  config.layers = 3;
  return config;
}

Intervention parse(std::string_view text) {
  return parse_intervention(text, model());
}

// What a mistake in `text` is told as, without the text itself.
std::string refusal(const std::string& text) {
  try {
    parse(text);
    return "none";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Usage);
    const std::string start = "intervention \"" + text + "\": ";
    EXPECT_TRUE(std::string(error.what()).starts_with(start)) << error.what();
    return std::string(error.what()).substr(start.size());
  }
}

TEST(InterventionSyntax, names_a_tap_and_a_change) {
  const Intervention set = parse("layers.1.attn.gate set=1");
  EXPECT_EQ(set.tap.text(), "layers.1.attn.gate");
  EXPECT_EQ(set.change, Change::Set);
  EXPECT_EQ(set.amount, 1.0);
  EXPECT_TRUE(set.heads.is_all() && set.channels.is_all() && set.positions.is_all());
  EXPECT_EQ(parse("resid scale=-0.5").change, Change::Scale);
  EXPECT_EQ(parse("resid scale=-0.5").amount, -0.5);
  EXPECT_EQ(parse("logits shift=1e-3").change, Change::Shift);
  EXPECT_EQ(parse("logits shift=1e-3").amount, 1e-3);
  EXPECT_EQ(parse("attn.gate mean").change, Change::Mean);
  EXPECT_EQ(parse("attn.gate invert").change, Change::Invert);
  EXPECT_EQ(parse("attn.gate shuffle").change, Change::Shuffle);
  EXPECT_EQ(parse("attn.gate shuffle").seed, 0U);
  EXPECT_EQ(parse("attn.gate shuffle=18446744073709551615").seed, 18446744073709551615U);
}

TEST(InterventionSyntax, may_choose_heads_channels_and_positions) {
  const Intervention chosen = parse("attn.gate heads=0,2 set=0 channels=1-3 positions=4-");
  EXPECT_TRUE(chosen.heads.contains(2));
  EXPECT_FALSE(chosen.heads.contains(1));
  EXPECT_TRUE(chosen.channels.contains(3));
  EXPECT_FALSE(chosen.channels.contains(0));
  EXPECT_TRUE(chosen.positions.contains(1000));
  EXPECT_FALSE(chosen.positions.contains(3));
  EXPECT_EQ(chosen.change, Change::Set);
}

TEST(InterventionSyntax, does_not_mind_more_spaces) {
  EXPECT_EQ(parse("  attn.q   set=2  heads=1 ").amount, 2.0);
}

TEST(InterventionSyntax, tells_which_changes_need_calibration_text) {
  for (const char* change : {"mean", "head-mean", "layer-mean", "overall-mean", "level=1", "head-level=2",
                             "shuffle", "shuffle=3"}) {
    EXPECT_TRUE(parse(std::string("attn.gate ") + change).needs_calibration()) << change;
  }
  for (const char* change : {"set=1", "scale=1", "shift=1", "invert", "noise=0.5"}) {
    EXPECT_FALSE(parse(std::string("attn.gate ") + change).needs_calibration()) << change;
  }
}

TEST(InterventionSyntax, reads_noise_with_and_without_a_seed) {
  EXPECT_EQ(parse("resid_mid noise=0.25").amount, 0.25);
  EXPECT_EQ(parse("resid_mid noise=0.25").seed, 0U);
  EXPECT_EQ(parse("resid_mid noise=1e-3,7").amount, 1e-3);
  EXPECT_EQ(parse("resid_mid noise=1e-3,7").seed, 7U);
  EXPECT_EQ(refusal("resid noise=0.1,x"), "bad noise: expected a seed, noise=0.1,7, got \"0.1,x\"");
  EXPECT_EQ(refusal("resid noise"), "bad noise: expected a number, noise=0.5, got \"\"");
  EXPECT_EQ(refusal("resid noise=-1"),
            "bad noise: expected how large it is beside the value, noise=0.1, got \"-1\"");
}

TEST(InterventionSyntax, refuses_less_than_a_tap_and_a_change) {
  const std::string needed = "expected a tap and a change: layers.3.attn.gate set=1";
  EXPECT_EQ(refusal(""), needed);
  EXPECT_EQ(refusal("   "), needed);
  EXPECT_EQ(refusal("attn.gate"), needed);
  EXPECT_EQ(refusal("attn.gate heads=0"), "one change is needed: got 0");
}

TEST(InterventionSyntax, refuses_more_than_one_change) {
  EXPECT_EQ(refusal("attn.gate set=1 scale=2"), "one change is needed: got 2");
  EXPECT_EQ(refusal("attn.gate mean mean"), "one change is needed: got 2");
  EXPECT_EQ(refusal("attn.gate set=1 heads=0 heads=1"), "heads= is there twice");
  EXPECT_EQ(refusal("attn.gate positions=* set=1 positions=*"), "positions= is there twice");
}

TEST(InterventionSyntax, refuses_unknown_words_with_the_nearest) {
  const std::string known =
      ": expected set=X, scale=X, shift=X, invert, noise=X, mean, head-mean, layer-mean, overall-mean, "
      "level=X, head-level=X or shuffle";
  EXPECT_EQ(refusal("attn.gate sacle=2"), "unknown change \"sacle\"" + known + " (did you mean \"scale\"?)");
  EXPECT_EQ(
      refusal("attn.gate set=1 head=2"),
      "unknown change \"head\"" + known + " (did you mean \"head-mean\" or \"head-level\" or \"heads\"?)");
  EXPECT_EQ(refusal("attn.gate zzzzzzzz"), "unknown change \"zzzzzzzz\"" + known);
  EXPECT_EQ(refusal("atn.gate set=1"), "no tap fits \"atn.gate\" (did you mean \"attn.gate\"?)");
}

TEST(InterventionSyntax, refuses_amounts_that_are_no_numbers) {
  for (const std::string word : {"set", "scale", "shift"}) {
    for (const std::string value : {"", "x", "1x", "1,5", "nan", "inf", "-inf", "1e999", "0x10", "--1"}) {
      EXPECT_EQ(refusal("attn.gate " + word + "=" + value),
                "bad " + word + ": expected a number, " + word + "=0.5, got \"" + value + "\"");
    }
  }
  for (const std::string value : {"1e300", "-3.5e38"})
    EXPECT_EQ(refusal("attn.gate set=" + value),
              "bad set: expected a number that f32 has, set=0.5, got \"" + value + "\"");
  EXPECT_EQ(refusal("attn.gate set"), "bad set: expected a number, set=0.5, got \"\"");
  EXPECT_EQ(refusal("attn.gate mean=3"), "mean takes no value: got 3");
  EXPECT_EQ(refusal("attn.gate invert=1"), "invert takes no value: got 1");
  for (const std::string seed : {"x", "-1", "1.5", "18446744073709551616"}) {
    EXPECT_EQ(refusal("attn.gate shuffle=" + seed),
              "bad shuffle: expected a seed, shuffle=1, got \"" + seed + "\"");
  }
}

TEST(InterventionSyntax, refuses_bad_lists_of_indices) {
  const std::string bad = "bad list of indices: expected numbers and ranges such as 0,3-5,8-, got ";
  EXPECT_EQ(refusal("attn.gate set=1 heads="), bad + "\"\"");
  EXPECT_EQ(refusal("attn.gate set=1 heads"), bad + "\"\"");
  EXPECT_EQ(refusal("attn.gate set=1 channels=a"), bad + "\"a\"");
  EXPECT_EQ(refusal("attn.gate set=1 positions=5-3"), bad + "\"5-3\"");
  EXPECT_EQ(refusal("layers.x.attn.gate set=1"), bad + "\"x\"");
}

// It would change nothing, and pass for something that has no effect.
TEST(InterventionSyntax, refuses_what_the_model_does_not_have) {
  EXPECT_EQ(refusal("layers.3.resid set=1"), "no such layer: expected 0 to 2, got 3");
  EXPECT_EQ(refusal("layers.1-3.resid set=1"), "no such layer: expected 0 to 2, got 3");
  EXPECT_EQ(refusal("layers.3-.resid set=1"), "no such layer: expected 0 to 2, got 3");
  EXPECT_EQ(refusal("attn.gate set=1 heads=4"), "no such head of attn.gate: expected 0 to 3, got 4");
  EXPECT_EQ(refusal("attn.gate set=1 channels=0-8"), "no such channel of attn.gate: expected 0 to 7, got 8");
  EXPECT_EQ(refusal("attn.k set=1 heads=2"), "no such head of attn.k: expected 0 to 1, got 2");
  EXPECT_EQ(refusal("attn.q set=1 heads=3 channels=7"), "none");
  EXPECT_EQ(refusal("resid set=1 channels=31"), "none");
  EXPECT_EQ(refusal("resid set=1 channels=32"), "no such channel of resid: expected 0 to 31, got 32");
  EXPECT_EQ(refusal("logits set=1 channels=49"), "none");
  EXPECT_EQ(refusal("logits set=1 channels=50"), "no such channel of logits: expected 0 to 49, got 50");
}

TEST(InterventionSyntax, refuses_gates_that_the_model_does_not_have) {
  EXPECT_EQ(refusal("attn.gate_g3 set=1"), "the model has no gate there");
  EXPECT_EQ(refusal("layers.0.attn.gate set=1"), "the model has no gate there");
  EXPECT_EQ(refusal("layers.0-1.attn.gate set=1"), "none") << "one of them has";
  EXPECT_EQ(refusal("attn.gate_* set=1"), "none") << "one of them is there";
  EXPECT_EQ(refusal("attn.gate_g2 set=1 heads=1"), "none");
  EXPECT_EQ(refusal("attn.gate_g2 set=1 heads=2"), "no such head of attn.gate_g2: expected 0 to 1, got 2");
}

TEST(InterventionSyntax, refuses_a_choice_among_what_the_tap_does_not_have) {
  const std::string channels = " (channels= and positions= are what it has)";
  for (const std::string tap : {"resid", "mlp.out", "attn.out", "embedding", "final.norm", "logits"}) {
    for (const std::string heads : {"0", "1", "*"}) {
      EXPECT_EQ(refusal(tap + " set=0 heads=" + heads), tap + " has no heads to choose from" + channels);
    }
  }
  for (const std::string chosen : {"0", "1", "*"}) {
    EXPECT_EQ(refusal("attn.gate_g2 set=1 channels=" + chosen),
              "attn.gate_g2 has one value per head, no channels (heads= and positions= are what it has)");
  }
}

TEST(InterventionSyntax, knows_the_gate_of_each_layer) {
  ModelConfig config = model();
  config.gates = {{.form = {.granularity = Granularity::Headwise}, .layers = {0}}, {.layers = {1, 2}}};
  EXPECT_EQ(parse_intervention("layers.1.attn.gate set=1 channels=7", config).channels.largest(), 7);
  EXPECT_EQ(parse_intervention("attn.gate set=1 channels=7", config).channels.largest(), 7);
  EXPECT_THROW(parse_intervention("layers.0.attn.gate set=1 channels=1", config), Error);
  EXPECT_THROW(parse_intervention("layers.1.attn.gate set=1 channels=8", config), Error);
}

TEST(InterventionSyntax, refuses_to_change_probabilities) {
  const std::string watched = "attn.probs can only be read (attn.mixed is what attention makes)";
  EXPECT_EQ(refusal("attn.probs set=1"), watched);
  EXPECT_EQ(refusal("attn.sink set=1"), "attn.sink can only be read (attn.mixed is what attention makes)");
  EXPECT_EQ(refusal("layers.0.attn.* set=1"), watched);
  EXPECT_EQ(refusal("* set=1"), watched);
}

TEST(InterventionSyntax, repeats_only_the_start_of_a_long_text) {
  const std::string text = "attn.gate " + std::string(1000, 'x');
  try {
    parse(text);
    FAIL() << "took it";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("intervention \"" + text.substr(0, 80) + "\": "))
        << error.what();
  }
}

}  // namespace
}  // namespace sluice
