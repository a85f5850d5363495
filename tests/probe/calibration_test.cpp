// Means and donors from a text of their own, and that no change lets a token see later ones.
#include "sluice/probe/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sluice/probe/probe_chain.h"
#include "sluice/probe/recorder.h"
#include "tests/base/expect_error.h"
#include "tests/model/small_model.h"

namespace sluice {
namespace {

using TokenSequences = std::vector<std::vector<TokenId>>;

std::vector<TokenId> text_from(TokenId first, int64_t count) {
  std::vector<TokenId> ids;
  for (int64_t i = 0; i < count; ++i) ids.push_back(static_cast<TokenId>((first + i * 11) % 50));
  return ids;
}

// What a tap had before and after the interventions.
struct Watched {
  Tensor before, after;
};

class Calibrations : public testing::Test {
 protected:
  Calibrations() { decoder_.initialise(engine_, Random(4)); }

  static ModelConfig config() {
    ModelConfig config = small_model(GateLayout::Separate, {{.init_std = 0.5}});
    config.layers = 3;
    config.tied = true;
    return config;
  }

  std::vector<Intervention> interventions(const std::vector<std::string>& texts) {
    std::vector<Intervention> all = parse_interventions(texts, decoder_.config());
    give_calibration(all, calibrate(context_, decoder_, {.interventions = all, .sequences = text_}));
    return all;
  }

  Tensor logits(const std::vector<TokenId>& ids, Probe* probe) {
    const Context context = context_.with_probe(probe);
    return decoder_.logits(context, decoder_.forward(context, ids).y).value();
  }

  // Of the unbroken model, [N, H, C].
  Tensor value_at(const TapName& name, const std::vector<TokenId>& ids) {
    Recorder recorder({TapPattern(name.text())});
    logits(ids, &recorder);
    return recorder.at(name).front();
  }

  Watched watched(const std::string& text, const TapName& name, int64_t sequence = 0) {
    Recorder before({TapPattern(name.text())}), after({TapPattern(name.text())});
    Intervener intervener(interventions({text}));
    intervener.begin_at(sequence);
    ProbeChain chain({&before, &intervener, &after});
    logits(text_from(3, 7), &chain);
    return {before.at(name).front(), after.at(name).front()};
  }

  Engine engine_;
  Decoder decoder_{config()};
  Context context_{engine_};
  TokenSequences text_ = {text_from(0, 9), text_from(1, 8), text_from(5, 12)};
};

constexpr TapName kGateOfLayer1{1, points::kGate.name};

TEST_F(Calibrations, mean_is_each_channel_s_over_all_tokens_of_the_calibration_text) {
  const Watched gate = watched("layers.1.attn.gate mean heads=1 positions=2-", kGateOfLayer1);
  std::vector<double> sums(32);
  for (const std::vector<TokenId>& ids : text_) {
    const Tensor value = value_at(kGateOfLayer1, ids);
    for (int64_t i = 0; i < value.count(); ++i) sums[static_cast<size_t>(i % 32)] += value.data<float>()[i];
  }
  for (int64_t i = 0; i < gate.after.count(); ++i) {
    const bool changed = i / 32 >= 2 && i % 32 / 8 == 1;
    const auto mean = static_cast<float>(sums[static_cast<size_t>(i % 32)] / 29);
    ASSERT_EQ(gate.after.data<float>()[i], changed ? mean : gate.before.data<float>()[i]) << i;
  }
}

TEST_F(Calibrations, one_mean_serves_a_head_a_layer_or_the_model) {
  const std::vector<Intervention> mean = interventions({"attn.gate mean"});
  const Calibration& calibration = *mean.front().calibration;
  const auto mean_over = [&](const std::vector<int64_t>& layers, int64_t first, int64_t count) {
    double sum = 0;
    for (const int64_t layer : layers)
      for (int64_t i = first; i < first + count; ++i)
        sum += calibration.find({layer, points::kGate})->mean(i);
    return static_cast<float>(sum / static_cast<double>(count * std::ssize(layers)));
  };
  const Watched head = watched("layers.1.attn.gate head-mean", kGateOfLayer1);
  const Watched layer = watched("layers.1.attn.gate layer-mean", kGateOfLayer1);
  const Watched overall = watched("layers.1.attn.gate overall-mean", kGateOfLayer1);
  for (int64_t i = 0; i < head.after.count(); ++i) {
    ASSERT_FLOAT_EQ(head.after.data<float>()[i], mean_over({1}, i % 32 / 8 * 8, 8)) << i;
    ASSERT_FLOAT_EQ(layer.after.data<float>()[i], mean_over({1}, 0, 32)) << i;
    ASSERT_FLOAT_EQ(overall.after.data<float>()[i], mean_over({0, 1, 2}, 0, 32)) << i;
  }
}

TEST_F(Calibrations, level_scales_each_channel_and_head_level_each_head) {
  const std::vector<Intervention> mean = interventions({"attn.gate mean"});
  const CalibratedTap& tap = *mean.front().calibration->find(kGateOfLayer1);
  const Watched by_channel = watched("layers.1.attn.gate level=1", kGateOfLayer1);
  const Watched by_head = watched("layers.1.attn.gate head-level=0.25 heads=1", kGateOfLayer1);
  for (int64_t i = 0; i < by_channel.before.count(); ++i) {
    const float before = by_channel.before.data<float>()[i];
    const int64_t element = i % 32, head = element / 8;
    ASSERT_FLOAT_EQ(by_channel.after.data<float>()[i], static_cast<float>(before / tap.mean(element))) << i;
    const double factor = head == 1 ? 0.25 / tap.head_mean(1) : 1;
    ASSERT_FLOAT_EQ(by_head.after.data<float>()[i], static_cast<float>(before * factor)) << i;
  }
}

TEST_F(Calibrations, level_refuses_what_has_a_mean_of_zero) {
  for (const NamedParameter& each : decoder_.parameters())
    if (each.parameter->name.ends_with("o_proj.weight"))
      std::ranges::fill(each.parameter->value.values<float>(), 0.0F);
  Intervener intervener(interventions({"attn.out level=1"}));
  EXPECT_ERROR(logits(text_from(3, 7), &intervener), ErrorKind::Usage,
               "intervention at layers.0.attn.out: no factor gives a value whose mean over the "
               "calibration text is 0 that level: expected values above 0, such as a gate's");
}

// Which sequence of the calibration text a changed value comes from, -1 if from none of them.
int64_t donor_of(const Tensor& after, const std::vector<Tensor>& donors) {
  for (size_t d = 0; d < donors.size(); ++d)
    if (std::ranges::equal(after.values<float>(),
                           donors[d].values<float>().first(static_cast<size_t>(after.count()))))
      return static_cast<int64_t>(d);
  return -1;
}

TEST_F(Calibrations, shuffle_takes_what_another_sequence_had_at_the_same_positions) {
  std::vector<Tensor> donors;
  for (const std::vector<TokenId>& ids : text_) donors.push_back(value_at(kGateOfLayer1, ids));
  std::set<int64_t> met;
  for (int64_t chunk = 0; chunk < 12; ++chunk)
    met.insert(donor_of(watched("layers.1.attn.gate shuffle", kGateOfLayer1, chunk).after, donors));
  EXPECT_EQ(met, (std::set<int64_t>{0, 1, 2})) << "chunks get different donors, and nothing else";
  met.clear();
  for (int64_t seed = 0; seed < 12; ++seed)
    met.insert(
        donor_of(watched(fmt::format("layers.1.attn.gate shuffle={}", seed), kGateOfLayer1).after, donors));
  EXPECT_EQ(met.size(), 3U) << "seeds get different donors";
}

TEST_F(Calibrations, shuffle_of_chosen_heads_and_positions_keeps_the_others) {
  const Watched some = watched("layers.1.attn.gate shuffle heads=2 positions=3-", kGateOfLayer1);
  const Watched all = watched("layers.1.attn.gate shuffle", kGateOfLayer1);
  for (int64_t i = 0; i < some.after.count(); ++i) {
    const bool changed = i / 32 >= 3 && i % 32 / 8 == 2;
    ASSERT_EQ(some.after.data<float>()[i], (changed ? all.after : some.before).data<float>()[i]) << i;
  }
}

TEST_F(Calibrations, shuffle_refuses_donors_that_are_too_short) {
  text_ = {text_from(0, 6), text_from(1, 6)};
  EXPECT_ERROR(
      watched("layers.1.attn.gate shuffle", kGateOfLayer1), ErrorKind::Usage,
      "calibration text: its sequences are too short for a shuffle: expected at least 7 tokens, got 6");
}

TEST_F(Calibrations, noise_is_as_large_as_it_was_asked_for) {
  const TapName middle{1, points::kMiddle};
  const Watched noisy = watched("layers.1.resid_mid noise=0.25,3 positions=1-", middle);
  for (int64_t row = 0; row < 7; ++row) {
    double of_value = 0, of_noise = 0;
    for (int64_t i = row * 32; i < (row + 1) * 32; ++i) {
      const double value = noisy.before.data<float>()[i], change = noisy.after.data<float>()[i] - value;
      of_value += value * value;
      of_noise += change * change;
    }
    EXPECT_NEAR(std::sqrt(of_noise / of_value), row == 0 ? 0 : 0.25, 1e-5) << row;
  }
  const Watched again = watched("layers.1.resid_mid noise=0.25,3 positions=1-", middle);
  EXPECT_TRUE(std::ranges::equal(noisy.after.values<float>(), again.after.values<float>()));
  const Watched other = watched("layers.1.resid_mid noise=0.25,4 positions=1-", middle);
  EXPECT_FALSE(std::ranges::equal(noisy.after.values<float>(), other.after.values<float>()));
}

TEST_F(Calibrations, keep_no_more_donors_than_there_is_room_for) {
  const std::vector<Intervention> all = parse_interventions(
      std::vector<std::string>{"layers.0.attn.gate shuffle", "layers.1.attn.gate mean"}, decoder_.config());
  const auto donors_with = [&](int64_t donors, int64_t bytes) {
    const auto calibration =
        calibrate(context_, decoder_,
                  {.interventions = all, .sequences = text_, .donors = donors, .donor_bytes = bytes});
    EXPECT_EQ(calibration->find({2, points::kGate}), nullptr) << "nobody needs it";
    EXPECT_TRUE(calibration->find({1, points::kGate})->donors.empty());
    EXPECT_EQ(calibration->tokens(), 29);
    return calibration->find({0, points::kGate})->donors.size();
  };
  EXPECT_EQ(donors_with(8, 1 << 20), 3U);
  EXPECT_EQ(donors_with(2, 1 << 20), 2U);
  EXPECT_EQ(donors_with(8, 1), 1U);
}

TEST_F(Calibrations, need_a_text) {
  text_.clear();
  EXPECT_ERROR(interventions({"attn.gate mean"}), ErrorKind::Usage, "there is no calibration text");
}

// Earlier predictions must not know what comes later, whatever is done to the model on the way.
class CausalChanges : public Calibrations, public testing::WithParamInterface<const char*> {};

TEST_P(CausalChanges, let_no_token_see_later_ones) {
  std::vector<TokenId> ids = text_from(3, 8);
  const auto changed_logits = [&] {
    Intervener intervener(interventions(
        {std::string("attn.gate ") + GetParam(), std::string("layers.1.mlp.out ") + GetParam()}));
    return logits(ids, &intervener);
  };
  const Tensor before = changed_logits();
  for (size_t i = 5; i < ids.size(); ++i) ids[i] = (ids[i] + 17) % 50;
  const Tensor after = changed_logits();
  const size_t earlier = 5 * 50;
  EXPECT_TRUE(
      std::ranges::equal(before.values<float>().first(earlier), after.values<float>().first(earlier)));
  EXPECT_FALSE(
      std::ranges::equal(before.values<float>().subspan(earlier), after.values<float>().subspan(earlier)));
}

// The same sequence is changed in the same way wherever it stands in a pass.
TEST_P(CausalChanges, do_not_depend_on_the_place_within_a_pass) {
  const std::vector<TokenId> first = text_from(3, 6), second = text_from(9, 8);
  const auto logits_at = [&](const std::vector<TokenId>& ids, const std::vector<int64_t>& lengths,
                             int64_t sequence) {
    Intervener intervener(interventions({std::string("layers.1.attn.gate ") + GetParam()}));
    intervener.begin_at(sequence);
    const Context context = context_.with_probe(&intervener);
    return decoder_.logits(context, decoder_.forward(context, ids, Sequences::of_lengths(lengths)).y).value();
  };
  std::vector<TokenId> both = first;
  both.insert(both.end(), second.begin(), second.end());
  const Tensor together = logits_at(both, {6, 8}, 4), alone = logits_at(second, {8}, 5);
  for (int64_t i = 0; i < alone.count(); ++i)
    ASSERT_NEAR(together.data<float>()[6 * 50 + i], alone.data<float>()[i], 1e-5) << i;
}

INSTANTIATE_TEST_SUITE_P(Each, CausalChanges,
                         testing::Values("set=0.25", "scale=-1.5", "shift=0.125", "invert", "noise=0.5,2",
                                         "mean", "head-mean", "layer-mean", "overall-mean", "level=1",
                                         "head-level=0.5", "shuffle=1"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace_if(
                               name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; },
                               '_');
                           return name;
                         });

}  // namespace
}  // namespace sluice
