// Captures: chosen values of one pass, and nothing else.
#include "sluice/probe/capture.h"

#include "sluice/probe/trace.h"
#include "tests/base/expect_error.h"
#include "tests/infer/byte_model.h"

namespace sluice {
namespace {

class Captures : public WithByteModel {
 protected:
  NamedTensors captured(const std::vector<std::string>& taps, const std::vector<std::string>& changes = {}) {
    return capture(
        model_,
        {.ids = {5, 6, 7}, .taps = taps, .interventions = parse_interventions(changes, model_.config())});
  }
};

TEST_F(Captures, have_what_was_asked_for_and_no_more) {
  const NamedTensors tensors = captured({"attn.gate", "logits"});
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"logits", "layers.0.attn.gate", "layers.1.attn.gate",
                                             "layers.2.attn.gate"}));
}

TEST_F(Captures, have_the_logits_of_a_trace) {
  const CapturedTrace traced = trace(model_, {.ids = {5, 6, 7}});
  const NamedTensors tensors = captured({"logits"});
  EXPECT_EQ(largest_difference(tensors.front().second, traced.trace.logits.values<float>()), 0.0);
}

TEST_F(Captures, see_what_an_intervention_changed) {
  const NamedTensors changed = captured({"logits", "attn.gate"}, {"attn.gate set=0.5"});
  for (const float gate : changed.back().second.values<float>()) ASSERT_EQ(gate, 0.5F);
  const NamedTensors clean = captured({"logits"});
  EXPECT_GT(largest_difference(changed.front().second, clean.front().second.values<float>()), 1e-4);
}

TEST_F(Captures, change_logits_that_nobody_keeps) {
  EXPECT_EQ(captured({"final.norm"}, {"logits set=0"}).size(), 1);
}

TEST_F(Captures, refuse_what_the_model_does_not_have) {
  EXPECT_ERROR(captured({"attn.gate_g5"}), ErrorKind::Usage, "capture: the model has no \"attn.gate_g5\"");
  EXPECT_ERROR(capture(model_, {.ids = {}, .taps = {"logits"}}), ErrorKind::Usage, "there are no tokens");
  EXPECT_ERROR(capture(model_, {.ids = {5, 128}, .taps = {"logits"}}), ErrorKind::Usage,
               "token 1: bad token id: expected integer from 0 to 127, got 128");
  EXPECT_ERROR(capture(model_, {.ids = {-1}, .taps = {"logits"}}), ErrorKind::Usage,
               "token 0: bad token id: expected integer from 0 to 127, got -1");
}

TEST_F(Captures, can_be_stopped_between_layers) {
  const JobControl stopped{.cancelled = [] { return true; }};
  EXPECT_ERROR(capture(model_, {.ids = {5}, .taps = {"logits"}}, stopped), ErrorKind::Interrupted,
               "interrupted");
}

}  // namespace
}  // namespace sluice
