#include "sluice/train/metrics.h"

#include <cmath>

#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

RunMetrics metrics_of(const std::string& text) {
  const TemporaryDirectory directory;
  directory.file("metrics.jsonl", text);
  return read_metrics(directory.path());
}

// The message after the name of the file.
std::string refusal(const std::string& text) {
  try {
    metrics_of(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    const std::string line = error.what();
    return line.substr(line.find("metrics.jsonl"));
  }
  ADD_FAILURE() << "not refused: " << text;
  return "";
}

TEST(MetricsFile, gives_steps_and_validations) {
  const RunMetrics metrics = metrics_of(R"({"step":1,"loss":6.5,"tokens":100,"seconds":0.5,"rate":1e-3}
{"step":2,"loss":5.5,"tokens":200,"seconds":1.5}
{"step":2,"validation_loss":5.25,"sequences":4,"length":32,"sink":0.3,"sink_floor":0.1,"max_activation":7,"gate_mean":0.5}
)");
  ASSERT_EQ(metrics.steps.size(), 2U);
  EXPECT_EQ(metrics.steps[1].step, 2);
  EXPECT_EQ(metrics.steps[1].tokens, 200);
  EXPECT_EQ(metrics.steps[0].seconds, 0.5);
  EXPECT_EQ(metrics.steps[0].loss, 6.5);
  ASSERT_EQ(metrics.validations.size(), 1U);
  EXPECT_EQ(metrics.validations[0].at.loss, 5.5) << "of its step";
  const Validation& validation = metrics.validations[0].validation;
  EXPECT_EQ(validation.step, 2);
  EXPECT_EQ(validation.loss, 5.25);
  EXPECT_EQ(validation.sequences, 4);
  EXPECT_EQ(validation.length, 32);
  EXPECT_EQ(validation.pulse.sink, 0.3);
  EXPECT_EQ(validation.pulse.sink_floor, 0.1);
  EXPECT_EQ(validation.pulse.max_activation, 7);
  EXPECT_EQ(validation.pulse.gate_mean, 0.5);
}

TEST(MetricsFile, a_validation_has_the_tokens_and_seconds_of_its_step) {
  const RunMetrics metrics = metrics_of(R"({"step":3,"loss":1,"tokens":300,"seconds":3}
{"step":3,"validation_loss":1}
{"step":9,"validation_loss":1}
)");
  EXPECT_EQ(metrics.validations[0].at.tokens, 300);
  EXPECT_EQ(metrics.validations[0].at.seconds, 3);
  EXPECT_TRUE(std::isnan(metrics.validations[1].at.tokens)) << "its step is not there";
}

TEST(MetricsFile, what_a_line_does_not_say_is_nan) {
  const RunMetrics metrics =
      metrics_of("{\"step\":1,\"loss\":2}\n{\"step\":1,\"validation_loss\":2,\"sink\":null}\n");
  EXPECT_TRUE(std::isnan(metrics.steps[0].tokens));
  EXPECT_TRUE(std::isnan(metrics.validations[0].validation.pulse.sink));
  EXPECT_FALSE(metrics.validations[0].validation.pulse.gated);
}

TEST(MetricsFile, a_last_line_without_an_end_is_left_out) {
  EXPECT_EQ(metrics_of("{\"step\":1,\"loss\":2}\n{\"step\":2,\"lo").steps.size(), 1U);
  EXPECT_EQ(metrics_of("{\"step\":1,\"loss\":2}").steps.size(), 0U);
  EXPECT_EQ(metrics_of("").steps.size(), 0U);
}

TEST(MetricsFile, lines_of_a_newer_version_are_left_alone) {
  EXPECT_EQ(metrics_of("{\"step\":1,\"memory\":[1]}\n{\"step\":2,\"loss\":2,\"memory\":5}\n").steps.size(),
            1U);
}

TEST(MetricsFile, refuses_what_is_no_line_of_metrics_and_names_it) {
  EXPECT_EQ(refusal("{\"step\":1,\"loss\":2}\n{\"loss\":3}\n"),
            "metrics.jsonl: line 2: step: required key is missing");
  EXPECT_NE(refusal("{\"step\":1,\"lo\n{}\n").find("line 1"), std::string::npos) << "cut in the middle";
  EXPECT_NE(refusal("[1]\n").find("line 1"), std::string::npos);
  EXPECT_NE(refusal("{\"step\":-1,\"loss\":2}\n").find("step"), std::string::npos);
  EXPECT_NE(refusal("{\"step\":1.5,\"loss\":2}\n").find("step"), std::string::npos);
  EXPECT_NE(refusal("{\"step\":1,\"loss\":\"x\"}\n").find("loss"), std::string::npos);
  EXPECT_NE(refusal("{\"step\":1,\"loss\":1e305}\n").find("loss"), std::string::npos);
  EXPECT_NE(refusal("{\"step\":1,\"loss\":1,\"tokens\":-5}\n").find("tokens"), std::string::npos);
  EXPECT_NE(refusal("{\"step\":1,\"loss\":\"\xff\"}\n").find("line 1"), std::string::npos);
}

TEST(MetricsFile, refuses_steps_that_go_back_or_are_there_twice) {
  EXPECT_NE(refusal("{\"step\":5,\"loss\":2}\n{\"step\":4,\"loss\":2}\n").find("no step before 5"),
            std::string::npos);
  EXPECT_NE(refusal("{\"step\":5,\"loss\":2}\n{\"step\":5,\"loss\":2}\n").find("not there before"),
            std::string::npos);
}

TEST(MetricsFile, refuses_a_directory_without_one) {
  const TemporaryDirectory directory;
  EXPECT_THROW(read_metrics(directory.path()), Error);
}

}  // namespace
}  // namespace sluice
