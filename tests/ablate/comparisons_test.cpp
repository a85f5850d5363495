// The number of comparisons that share the error is what gets a verdict, whatever the plan: counted
// beforehand and counted in the result.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "sluice/ablate/ablation_forecast.h"
#include "tests/ablate/nursery_ablation.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

// On one text: different runs, different pairs of a run and its control, and the sink.
int64_t verdicts_in(const ordered_json& text) {
  std::map<std::string, std::string> first;  // of the runs that are equal
  std::set<std::string> runs;
  std::set<std::pair<std::string, std::string>> pairs;
  int64_t sinks = 0;
  for (const ordered_json& run : text.at("runs")) {
    const std::string name = run.at("name");
    first[name] = run.value("same_as", name);
    runs.insert(first[name]);
    if (!run.contains("same_as") && run.contains("sink_simultaneous_interval")) ++sinks;
  }
  for (const ordered_json& pair : text.at("controls"))
    pairs.emplace(first.at(pair.at("run")), first.at(pair.at("control")));
  return std::ssize(runs) + std::ssize(pairs) + sinks;
}

class Comparisons : public NurseryAblation {
 protected:
  AblationRequest asked(const std::string& out, std::vector<std::string> groups,
                        std::vector<std::string> actions) const {
    AblationRequest asked = request(out);
    asked.chunks.at_most = 9;
    asked.calibration = nursery_tokens(60);
    asked.plan.groups = std::move(groups);
    asked.plan.layer_actions = asked.plan.set_actions = std::move(actions);
    asked.plan.layers_with_heads = 0;
    asked.plan.draws = 2;
    asked.sample_tokens = 0;
    return asked;
  }

  void expect_exact(const AblationRequest& request) {
    const ordered_json json = to_json(run_ablation(engine_, request));
    int64_t verdicts = 0;
    for (const ordered_json& model : json.at("models"))
      for (const ordered_json& text : model.at("texts")) verdicts += verdicts_in(text);
    EXPECT_EQ(json.at("rule").at("comparisons").get<int64_t>(), verdicts) << request.out;
    int64_t forecast = 0;
    AblationRequest again = request;
    again.out = directory_.path() / "none";
    for (const ModelForecast& model : forecast_ablation(engine_, again).models) forecast += model.comparisons;
    EXPECT_EQ(forecast, verdicts) << request.out;
  }
};

TEST_F(Comparisons, are_counted_exactly_for_controls_of_every_action) {
  for (const char* action : {"open", "closed", "mean", "shuffled", "inverted"})
    expect_exact(asked(action, {"layers", "controls"}, {action}));
  AblationRequest ungated = asked("ungated", {"layers", "controls"}, {"closed", "mean", "shuffled"});
  ungated.models = {nursery_path("baseline")};
  expect_exact(ungated);
}

TEST_F(Comparisons, of_an_open_layer_are_its_run_and_its_controls) {
  const AblationResult result = run_ablation(engine_, asked("open", {"layers", "controls"}, {"open"}));
  // Three layers, each with four tensors of its own, one of another layer and noise here and elsewhere.
  EXPECT_EQ(result.rule.comparisons, 3 + 3 * 7 + 3 * 7);
}

TEST_F(Comparisons, are_counted_exactly_for_all_groups_on_several_models_and_texts) {
  AblationRequest all =
      asked("all", {"global", "constants", "layers", "cumulative", "positions", "depth", "controls"},
            {"open", "closed"});
  all.models.push_back(nursery_path("baseline"));
  all.texts.push_back({.name = "more", .source = nursery_tokens(200)});
  expect_exact(all);
}

// Here every layer's heads follow, so that none is counted that might have followed.
TEST_F(Comparisons, are_counted_exactly_for_heads_that_follow) {
  AblationRequest top = asked("top", {"layers", "first-heads", "controls"}, {"open"});
  top.plan.layers_with_heads = 3;
  expect_exact(top);
  expect_exact(asked("heads", {"heads", "first-heads", "controls"}, {}));
}

TEST_F(Comparisons, are_the_same_from_a_printed_plan) {
  AblationRequest printed = asked("asked", {"global", "layers", "first-heads", "controls"}, {"open", "mean"});
  printed.plan.layers_with_heads = 1;
  const AblationPlan plan = forecast_ablation(engine_, printed).models.front().plan;
  const std::filesystem::path file = directory_.path() / "plan.json";
  std::ofstream(file) << to_json(plan).dump();
  AblationRequest from_file = printed;
  from_file.out = directory_.path() / "from_file";
  from_file.plan = {};
  from_file.plan_file = file;
  EXPECT_EQ(result_of(from_file), result_of(printed));
}

}  // namespace
}  // namespace sluice
