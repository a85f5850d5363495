// The demo's report from given numbers.
#include "sluice/report/demo_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sluice/base/file.h"
#include "tests/base/temporary_directory.h"
#include "tests/report/nursery_example.h"

namespace sluice {
namespace {

DemoModel model_of(const std::string& variant, bool gated) {
  DemoModel model{.variant = variant, .parameters = 1234567};
  model.outcome.state = {.step = 2, .tokens = 4096, .seconds = 2};
  model.outcome.state.losses.spikes = 3;
  const Validation validation{.step = 2,
                              .loss = 0,
                              .sequences = 32,
                              .length = 128,
                              .pulse = {.sink = 0.25,
                                        .sink_floor = 0.0424,
                                        .max_activation = 7.125,
                                        .gated = gated,
                                        .gate_mean = 0.5,
                                        .gate_closed = 0.0625,
                                        .sequences = 4},
                              .sample = "Petra <was> a"};
  model.outcome.validation = validation;
  for (int64_t step = 1; step <= 2; ++step)
    model.metrics.add(StepResult{.loss = 6.0 / static_cast<double>(step)},
                      {.step = step, .tokens = 2048 * step});
  model.metrics.add(validation);
  return model;
}

NurseryResult smallest_nursery() {
  NurseryResult nursery = example_nursery();
  nursery.pair = kNurseryPairs[0];
  nursery.seeds = stored_seeds(nursery.pair);
  return nursery;
}

DemoResult example(const std::filesystem::path& out) {
  return {.out = out,
          .prompt = "Petra was",
          .corpus = {.tokens = 5000, .documents = 10},
          .models = {model_of("baseline", false), model_of("elementwise", true)},
          .nurseries = {smallest_nursery(), example_nursery()}};
}

TEST(DemoReport, has_a_row_per_model_and_no_gates_for_the_baseline) {
  const DemoResult result = example("demo");
  EXPECT_EQ(csv_of(demo_table(result)),
            "model,parameters,validation_ppl,sink,sink_floor,max_activation,gate_mean,gate_below_0.1,spikes,"
            "tokens_per_s\n"
            "baseline,1234567,1,0.25,0.0424,7.125,,,3,2048\n"
            "elementwise,1234567,1,0.25,0.0424,7.125,0.5,0.0625,3,2048\n");
  const std::string text = to_text(result);
  EXPECT_NE(text.find("elementwise     1234567     1.000  0.2500  0.0424     7.12     0.5000  0.0625       3 "
                      "     2048\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("baseline        1234567     1.000  0.2500  0.0424     7.12          -       -       3 "
                      "     2048\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("validation on 32 sequences of 128 tokens"), std::string::npos) << text;
  EXPECT_NE(text.find("sluice eval demo/elementwise/latest --data demo/corpus.jsonl"), std::string::npos)
      << text;
}

TEST(DemoReport, is_json_with_the_validation_of_each_model) {
  const auto json = to_json(example("demo"));
  EXPECT_EQ(json["out"], "demo");
  ASSERT_EQ(json["models"].size(), 2U);
  EXPECT_EQ(json["models"][1]["validation"]["gate_mean"], 0.5);
  EXPECT_FALSE(json["models"][0]["validation"].contains("gate_mean"));
  EXPECT_EQ(json["models"][0]["timing"]["tokens_per_s"], 2048.0);
  EXPECT_EQ(json["nurseries"][0]["models"].size(), 2U);
}

TEST(DemoReport, says_that_one_run_of_each_decides_nothing) {
  const Report report = demo_report(example("demo"));
  const auto& finding = std::get<Finding>(report.sections[2].blocks[1]);
  EXPECT_EQ(finding.verdict, Verdict::Undecided);
  EXPECT_NE(finding.text.find("n = 1 gives no interval"), std::string::npos) << finding.text;
}

TEST(DemoReport, begins_with_the_nursery_and_its_smallest_pair) {
  const Report report = demo_report(example("demo"));
  EXPECT_EQ(report.sections[0].title, "A nursery where a sink grows");
  EXPECT_EQ(report.sections[0].anchor, "nursery-one");
  EXPECT_EQ(report.sections[1].title, "The nursery with several heads");
  EXPECT_EQ(*report.header.seconds, 2 * 130 + 2 * 2) << "of both pairs and both models of text";
  const std::string text = to_text(example("demo"));
  EXPECT_LT(text.find("1. A nursery where a sink grows"), text.find("2. The nursery with several heads"))
      << text;
  EXPECT_LT(text.find("3. A baseline and two gated models"), text.find("4. What breaks")) << text;
  EXPECT_NE(text.find("sluice attention demo/nursery-baseline demo/nursery-headwise --held-out"),
            std::string::npos)
      << text;
}

TEST(DemoReport, is_written_as_files_of_which_the_page_holds_the_curves) {
  const TemporaryDirectory directory;
  write_demo_report(example(directory.path()));
  const auto content = [&](const char* name) { return read_text(directory.path() / name, 1 << 20); };
  EXPECT_TRUE(content("curves.svg").starts_with("<svg "));
  EXPECT_NE(content("report.html").find("id=\"figure-curves\""), std::string::npos);
  EXPECT_NE(content("report.html").find(content("nursery-sink.svg")), std::string::npos);
  EXPECT_NE(content("report.html").find("Petra &lt;was&gt; a"), std::string::npos) << "text is escaped";
  EXPECT_EQ(content("report.txt"), to_text(example(directory.path())));
  EXPECT_EQ(nlohmann::ordered_json::parse(content("result.json")), to_json(example(directory.path())));
  EXPECT_EQ(content("models.csv"), csv_of(demo_table(example(directory.path()))));
  EXPECT_NE(content("report.md").find("# What a gate does to small models\n"), std::string::npos);
  EXPECT_TRUE(content("curves.png").starts_with("\x89PNG"));
}

}  // namespace
}  // namespace sluice
