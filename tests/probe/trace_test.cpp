// Traces as a use case: what is asked for, kept, written and refused.
#include "sluice/probe/trace.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"
#include "tests/infer/byte_model.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

class Traces : public WithByteModel {
 protected:
  TraceRequest request(const std::vector<std::string>& captures,
                       const std::vector<std::string>& changes = {}) {
    return {.ids = {5, 6, 7},
            .captures = captures,
            .interventions = parse_interventions(changes, model_.config())};
  }
};

TEST_F(Traces, have_what_is_captured_by_name) {
  const CapturedTrace traced = trace(model_, request({"layers.1.attn.q", "final.norm"}));
  const ordered_json json = to_json(traced);
  EXPECT_EQ(json["ids"], (ordered_json{5, 6, 7}));
  std::vector<std::string> names;
  for (const auto& [name, shape] : json["tensors"].items()) names.push_back(name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"logits", "hidden", "attn", "gates", "final.norm", "layers.1.attn.q"}));
  EXPECT_EQ(json["tensors"]["logits"], (ordered_json{3, 128}));
}

TEST_F(Traces, show_values_after_interventions) {
  const CapturedTrace traced = trace(model_, request({"layers.0.attn.gate"}, {"attn.gate set=0.5"}));
  for (const float gate : traced.captures.front().second.values<float>()) ASSERT_EQ(gate, 0.5F);
  const Trace clean = trace({engine_}, model_.decoder(), traced.ids);
  EXPECT_GT(largest_difference(traced.trace.logits, clean.logits.values<float>()), 1e-4);
}

TEST_F(Traces, are_written_with_ids_and_the_layers_of_the_gates) {
  const TemporaryDirectory directory;
  const CapturedTrace traced = trace(model_, request({"attn.sink"}));
  write_trace(directory.path() / "t", traced);
  const SafetensorsFile file(directory.path() / "t");
  for (const auto& [name, tensor] : tensors_of(traced))
    EXPECT_EQ(largest_difference(tensor, floats_of(file, name)), 0.0) << name;
  EXPECT_EQ(file.metadata().at("ids"), "5,6,7");
  EXPECT_EQ(file.metadata().at("gate_layers"), "0,1,2");
}

TEST_F(Traces, refuse_what_fits_nothing_in_the_model) {
  EXPECT_ERROR(trace(model_, request({"attn.q", "attn.gate_g5"})), ErrorKind::Usage,
               "capture: the model has no \"attn.gate_g5\"");
  EXPECT_ERROR(trace(model_, request({}, {"attn.gate set=1 positions=5-"})), ErrorKind::Usage,
               "intervention at attn.gate: no token of the text has such a position");
}

TEST_F(Traces, refuse_layers_that_the_model_does_not_have) {
  EXPECT_ERROR(trace(model_, request({"layers.1-3.attn.q"})), ErrorKind::Usage,
               "capture \"layers.1-3.attn.q\": no such layer: expected 0 to 2, got 3");
}

TEST_F(Traces, with_values_that_are_not_finite_are_refused_or_told) {
  const std::vector<std::string> changes = {"layers.1.mlp.out set=3e38 positions=1",
                                            "layers.1.mlp.out scale=10"};
  EXPECT_THROW(trace(model_, request({}, changes)), Error);
  const LoadedModel allowing(engine_, model_.path(), {.nonfinite = NonFinite::Allowed});
  std::ostringstream said;
  Log log(LogLevel::Normal, said);
  const CapturedTrace traced = trace(allowing, request({}, changes), {.log = &log});
  EXPECT_EQ(traced.ids.size(), 3U);
  EXPECT_NE(said.str().find("values of the trace are not finite (the first value that is not: "
                            "layers.1.mlp.out, which is inf at token 1)"),
            std::string::npos)
      << said.str();
}

TEST_F(Traces, report_layers_and_stop_when_they_are_cancelled) {
  std::vector<int64_t> seen;
  JobControl control{.progress = [&](const ProgressUpdate& update) { seen.push_back(update.done); }};
  trace(model_, request({}), control);
  EXPECT_EQ(seen, (std::vector<int64_t>{1, 2, 3}));
  control.cancelled = [&] { return seen.size() > 4; };
  EXPECT_ERROR(trace(model_, request({}), control), ErrorKind::Interrupted, "interrupted");
  EXPECT_EQ(seen.size(), 5U);
}

}  // namespace
}  // namespace sluice
