// Patching between two prompts. What it finds where the truth is known is in tests/ablate.
#include "sluice/probe/patch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/probe/recorder.h"
#include "tests/base/expect_error.h"
#include "tests/infer/byte_model.h"

namespace sluice {
namespace {

// Puts rows of a value into one pass, as slowly as can be: the whole model runs.
class RowSwap : public Probe {
 public:
  RowSwap(TapName at, Tensor source, int64_t row) : at_(at), source_(std::move(source)), row_(row) {}

  bool wants(const TapName& name) const override {
    return name.layer == at_.layer && name.point == at_.point;
  }

  Tensor visit(const Context& context, const TapName& /*name*/, const Tensor& value) override {
    Tensor changed = value.copy(context.engine.pool());
    const int64_t width = value.count() / value.shape()[0];
    std::copy_n(source_.data<float>() + row_ * width, width, changed.data<float>() + row_ * width);
    return changed;
  }

 private:
  TapName at_;
  Tensor source_;
  int64_t row_;
};

class PatchTest : public WithByteModel {
 protected:
  // Answers that the two prompts tell apart as well as any.
  PatchTest() {
    const auto clean = last_logits(nullptr, request_.clean);
    const auto corrupted = last_logits(nullptr, request_.corrupted);
    request_.answer = static_cast<TokenId>(std::ranges::max_element(clean) - clean.begin());
    std::vector<float> change(clean.size());
    for (size_t i = 0; i < clean.size(); ++i) change[i] = corrupted[i] - clean[i];
    request_.wrong = static_cast<TokenId>(std::ranges::max_element(change) - change.begin());
  }

  std::vector<float> last_logits(Probe* probe, const std::vector<TokenId>& ids) {
    const Context context = model_.context(probe);
    const Tensor hidden = model_.decoder().forward(context, ids).y.value();
    const Tensor logits = model_.decoder().logits(context, Var(hidden)).value();
    const auto row = logits.values<float>().last(static_cast<size_t>(model_.config().vocabulary));
    return {row.begin(), row.end()};
  }

  double difference(Probe* probe, const std::vector<TokenId>& ids) {
    const auto logits = last_logits(probe, ids);
    return double{logits[static_cast<size_t>(request_.answer)]} - logits[static_cast<size_t>(request_.wrong)];
  }

  PatchResult patched(const std::vector<std::string>& taps, PatchPieces pieces = PatchPieces::Both) {
    request_.taps = taps;
    request_.pieces = pieces;
    return patch_prompts(model_, request_);
  }

  PatchRequest request_{.clean = {72, 101, 108, 108, 111, 32}, .corrupted = {72, 97, 108, 120, 111, 33}};
};

TEST_F(PatchTest, finds_what_whole_passes_with_one_row_changed_find) {
  const PatchResult result = patched({"attn.gate", "mlp.out", "attn.k"}, PatchPieces::Positions);
  EXPECT_NEAR(result.clean.difference, difference(nullptr, request_.clean), 1e-4);
  for (const PatchMap& map : result.maps) {
    for (const PatchedLayer& layer : map.layers) {
      EXPECT_TRUE(layer.heads.empty());
      const TapName at{layer.layer, map.tap};
      Recorder recorder({TapPattern(at.text())});
      last_logits(&recorder, request_.clean);
      for (size_t i = 0; i < layer.positions.size(); ++i) {
        RowSwap swap(at, recorder.at(at).front(), static_cast<int64_t>(i));
        const double expected = (difference(&swap, request_.corrupted) - result.corrupted.difference) /
                                (result.clean.difference - result.corrupted.difference);
        EXPECT_NEAR(layer.positions[i], expected, 1e-3) << at.text() << ", position " << i;
      }
    }
  }
}

TEST_F(PatchTest, of_the_last_stream_moves_all_at_the_last_token_and_nothing_elsewhere) {
  for (const PatchDirection direction : {PatchDirection::Denoise, PatchDirection::Noise}) {
    request_.direction = direction;
    const PatchResult result = patched({"resid"});
    const double moved = direction == PatchDirection::Denoise ? 1 : 0;
    const PatchedLayer& layer = result.maps[0].layers.back();
    EXPECT_EQ(layer.layer, model_.config().layers - 1);
    for (size_t i = 0; i + 1 < layer.positions.size(); ++i) EXPECT_NEAR(layer.positions[i], 1 - moved, 1e-4);
    EXPECT_NEAR(layer.positions.back(), moved, 1e-4);
  }
}

TEST_F(PatchTest, has_a_column_for_every_head_that_a_tap_has) {
  const PatchResult result = patched({"attn.q", "attn.k", "attn.gate", "attn.out"});
  EXPECT_EQ(result.maps[0].layers[0].heads.size(), static_cast<size_t>(model_.config().heads));
  EXPECT_EQ(result.maps[1].layers[0].heads.size(), static_cast<size_t>(model_.config().kv_heads));
  EXPECT_EQ(result.maps[2].layers[0].heads.size(), static_cast<size_t>(model_.config().heads));
  EXPECT_TRUE(result.maps[3].layers[0].heads.empty());
}

TEST_F(PatchTest, takes_the_layers_of_a_pattern_and_each_point_once) {
  const PatchResult result = patched({"layers.1.attn.*", "attn.gate"}, PatchPieces::Positions);
  EXPECT_GT(result.maps.size(), 5U);
  for (const PatchMap& map : result.maps) {
    ASSERT_EQ(map.layers.size(), 1U) << map.tap;
    EXPECT_EQ(map.layers[0].layer, 1);
    EXPECT_EQ(std::ranges::count(result.maps, map.tap, &PatchMap::tap), 1);
  }
}

TEST_F(PatchTest, leaves_out_what_a_dense_model_does_not_have) {
  for (const PatchMap& map : patched({"*"}).maps) {
    EXPECT_NE(map.tap.substr(0, 10), "mlp.expert") << map.tap;
    EXPECT_NE(map.tap, "mlp.router");
    EXPECT_NE(map.tap, "mlp.shared_gate");
  }
}

TEST_F(PatchTest, looks_at_the_stream_heads_and_gates_if_nothing_is_said) {
  const PatchResult result = patched({}, PatchPieces::Positions);
  std::vector<std::string> taps;
  for (const PatchMap& map : result.maps) taps.push_back(map.tap);
  EXPECT_EQ(taps, (std::vector<std::string>{"resid", "attn.gated", "attn.gate"}));
}

TEST_F(PatchTest, is_bitwise_the_same_for_any_number_of_threads) {
  const auto json = [&](int threads) {
    Engine engine({.threads = threads});
    const LoadedModel model(engine, golden("tiny_gate_elementwise"), {.tokenizer = "bytes"});
    return to_json(patch_prompts(model, request_));
  };
  EXPECT_EQ(json(2), json(1));
}

TEST_F(PatchTest, refuses_prompts_that_do_not_fit_each_other) {
  request_.corrupted.pop_back();
  EXPECT_ERROR(
      patched({}), ErrorKind::Usage,
      "patch: the prompts differ in length, so their tokens cannot be put in each other's place: "
      "expected as many tokens as the clean one has, 6 (\"H|e|l|l|o| \"), got 5 (\"H|a|l|x|o\") in the "
      "corrupted one");
  request_.corrupted = request_.clean;
  EXPECT_ERROR(patched({}), ErrorKind::Usage, "patch: the clean and the corrupted prompt are the same");
  request_.clean.assign(kMaxPatchTokens + 1, 65);
  request_.corrupted.assign(kMaxPatchTokens + 1, 66);
  EXPECT_ERROR(patched({}), ErrorKind::Usage,
               "patch: the prompts are too long: expected at most 512 tokens, got 513");
}

TEST_F(PatchTest, refuses_answers_that_the_prompts_do_not_tell_apart) {
  const auto refusal = [&](const PatchRequest& request) -> std::string {
    try {
      patch_prompts(model_, request);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  PatchRequest swapped = request_;
  std::swap(swapped.answer, swapped.wrong);
  EXPECT_NE(refusal(swapped).find("the answers are the wrong way round: swap --answer and --wrong"),
            std::string::npos)
      << refusal(swapped);
  PatchRequest same = request_;
  same.wrong = same.answer;
  EXPECT_EQ(refusal(same), "patch: the answer and the wrong answer are the same token");
}

TEST_F(PatchTest, refuses_taps_that_cannot_be_patched) {
  EXPECT_ERROR(patched({"attn.gat"}), ErrorKind::Usage,
               "no tap fits \"attn.gat\" (did you mean \"attn.gate\"?)");
  EXPECT_ERROR(patched({"attn.probs"}), ErrorKind::Usage,
               "--tap attn.probs: attn.probs can only be read (attn.mixed is what attention makes)");
  EXPECT_ERROR(patched({"attn.gate_g2"}), ErrorKind::Usage,
               "--tap attn.gate_g2: the model has no gate there");
  for (const char* tap : {"mlp.router", "mlp.expert_out", "mlp.shared_gate", "layers.1.mlp.expert_out"})
    EXPECT_ERROR(patched({tap}), ErrorKind::Usage,
                 fmt::format("--tap {}: the model has no experts there", tap));
  EXPECT_ERROR(patched({"logits"}), ErrorKind::Usage,
               "--tap logits: stands outside the layers (resid is the stream behind each of them)");
  EXPECT_ERROR(patched({"layers.9.resid"}), ErrorKind::Usage,
               "--tap layers.9.resid: no such layer: expected 0 to 2, got 9");
  EXPECT_ERROR(patched({"attn.q", "resid"}, PatchPieces::Heads), ErrorKind::Usage,
               "--tap resid: has no heads (--by positions is what it has)");
}

TEST_F(PatchTest, knows_single_tokens) {
  EXPECT_EQ(single_token(model_, "A", "--answer"), 65);
  EXPECT_ERROR(
      single_token(model_, "AB", "--answer"), ErrorKind::Usage,
      "--answer: not a single token: expected one token of the model's tokenizer, got 2 (\"A|B\") (a "
      "space before a word is often part of its token)");
}

TEST_F(PatchTest, stops_when_it_is_told_to) {
  EXPECT_ERROR(patch_prompts(model_, request_, {.cancelled = [] { return true; }}), ErrorKind::Interrupted,
               "interrupted");
}

}  // namespace
}  // namespace sluice
