// The page of an experiment: what stands first when there are more verdicts than anybody would read first.
#include "sluice/report/experiment_report.h"

#include <gtest/gtest.h>

#include "sluice/report/markdown.h"

namespace sluice {
namespace {

constexpr int kSeeds = 3;

// Baseline and gated under so many conditions. The gated model's sink is lower under the first alone.
ExperimentResult result_under(int conditions) {
  ExperimentResult result{.experiment = {.name = "settings",
                                         .question = "Does it?",
                                         .variants = {{{.name = "base"}}, {{.name = "gated"}}},
                                         .condition = "layers x heads",
                                         .condition_axis = ConditionAxis::Names,
                                         .seeds = kSeeds,
                                         .looks = {{.pairs = kSeeds, .error = 0.05}}},
                          .planned = 2 * kSeeds * conditions};
  for (int i = 0; i < conditions; ++i) {
    const std::string condition = "c" + std::to_string(i);
    result.experiment.conditions.push_back({{.name = condition}});
    const size_t base = result.variants.size();
    for (const std::string variant : {"base", "gated"}) {
      const std::string name = variant + "," + condition;
      result.variants.push_back({.point = {.changes = {}, .title = name},
                                 .variant = variant,
                                 .condition = condition,
                                 .parameters = 100,
                                 .against = base});
      for (int seed = 1; seed <= kSeeds; ++seed) {
        const double noise = 0.001 * seed, gain = variant == "gated" && i == 0 ? 0.5 + noise : 0;
        result.runs.push_back({.variant = name,
                               .seed = seed,
                               .validation_loss = 2 + noise,
                               .sink = 0.8 - gain,
                               .max_activation = (variant == "gated" ? noise * (seed - 2) : 0) + 5});
      }
    }
  }
  return result;
}

std::string page(int conditions) {
  return markdown_of(experiment_report(result_under(conditions), {}));
}

TEST(ExperimentPages, begin_with_their_verdicts_if_these_are_few) {
  const std::string text = page(2);
  EXPECT_LT(text.find("Sink of gated,c0 is lower"), text.find("## Method")) << text;
}

TEST(ExperimentPages, begin_with_a_count_of_many_verdicts_that_names_what_is_decided) {
  const std::string text = page(5);
  const std::string first = text.substr(0, text.find("## Method"));
  EXPECT_NE(first.find("sink, 5 comparisons: lower for 1 (gated,c0); undecided for 4."), std::string::npos)
      << first;
  EXPECT_NE(first.find("validation loss, 5 comparisons: equivalent for 5"), std::string::npos) << first;
  EXPECT_EQ(first.find("Sink of gated,c0 is lower"), std::string::npos) << first;
  EXPECT_NE(text.find("Sink of gated,c0 is lower"), std::string::npos) << "still on the page, below";
}

}  // namespace
}  // namespace sluice
