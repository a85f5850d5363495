// sluice plot as a black box. The runs are made up: training is tested elsewhere.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/base/temporary_directory.h"
#include "tests/cli/expect_refusal.h"

namespace sluice::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

class PlotCommand : public testing::Test {
 protected:
  PlotCommand() {
    make_run("baseline", 20);
    make_run("gated", 20, 0.5);
  }

  void make_run(const std::string& name, int steps, double gate = -1) const {
    std::string text;
    for (int step = 1; step <= steps; ++step) {
      text +=
          Json{{"step", step}, {"loss", 6.0 / step}, {"tokens", 128 * step}, {"seconds", 0.5 * step}}.dump() +
          "\n";
      if (step % 5 != 0) continue;
      Json line = {{"step", step},
                   {"validation_loss", 6.5 / step},
                   {"sink", 0.2},
                   {"sink_floor", 0.1},
                   {"max_activation", 3}};
      if (gate >= 0) line["gate_mean"] = gate;
      text += line.dump() + "\n";
    }
    write_metrics(name, text);
  }

  void write_metrics(const std::string& name, const std::string& text) const {
    fs::create_directories(path(name));
    std::ofstream(path(name) + "/metrics.jsonl", std::ios::binary) << text;
  }

  ProgramRun plot(const Words& runs, const Words& more = {}) const {
    Words arguments = {"plot"};
    for (const std::string& run : runs) arguments.push_back(path(run));
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_sluice(arguments);
  }

  std::string content(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name), std::ios::binary).rdbuf();
    return text.str();
  }

  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }

  TemporaryDirectory directory_;
};

TEST_F(PlotCommand, draws_runs_as_svg_and_png) {
  const ProgramRun svg = plot({"baseline", "gated"}, {"--out", path("c.svg")});
  EXPECT_EQ(svg.exit_code, 0) << svg.err;
  EXPECT_EQ(svg.out, path("c.svg") + ": 2 runs, 40 steps\n");
  EXPECT_TRUE(content("c.svg").starts_with("<svg "));
  EXPECT_NE(content("c.svg").find(">gated</text>"), std::string::npos) << "named after its directory";
  EXPECT_EQ(plot({"gated"}, {"--out", path("c.png")}).exit_code, 0);
  EXPECT_TRUE(content("c.png").starts_with("\x89PNG"));
}

TEST_F(PlotCommand, gives_the_same_bytes_again) {
  for (const char* end : {".svg", ".png"}) {
    const std::string first = std::string("a") + end, second = std::string("b") + end;
    ASSERT_EQ(plot({"baseline", "gated"}, {"--out", path(first)}).exit_code, 0);
    ASSERT_EQ(plot({"baseline", "gated"}, {"--out", path(second)}).exit_code, 0);
    EXPECT_EQ(content(first), content(second));
  }
}

TEST_F(PlotCommand, says_as_json_what_was_drawn) {
  const ProgramRun run = plot({"baseline", "gated"}, {"--out", path("c.svg"), "--x", "tokens", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json["out"], path("c.svg"));
  EXPECT_EQ(json["x"], "tokens");
  ASSERT_EQ(json["panels"].size(), 4U);
  EXPECT_EQ(json["panels"][0]["series"][0], (Json{{"name", "baseline: training loss"}, {"points", 20}}));
  EXPECT_EQ(json["panels"][3]["title"], "Mean gate");
  EXPECT_EQ(json["panels"][3]["series"][0], (Json{{"name", "baseline"}, {"points", 0}}));
  EXPECT_EQ(json["panels"][3]["series"][1], (Json{{"name", "gated"}, {"points", 4}}));
}

TEST_F(PlotCommand, draws_a_run_that_goes_on_or_has_just_begun) {
  write_metrics("going-on", "{\"step\":1,\"loss\":5}\n{\"step\":2,\"los");
  write_metrics("new", "");
  const ProgramRun run = plot({"going-on", "new"}, {"--out", path("c.svg")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, path("c.svg") + ": 2 runs, 1 steps\n");
}

TEST_F(PlotCommand, tells_runs_of_the_same_name_apart_by_their_paths) {
  make_run("a/run", 3);
  make_run("b/run", 3);
  ASSERT_EQ(plot({"a/run", "b/run/"}, {"--out", path("c.svg")}).exit_code, 0);
  EXPECT_NE(content("c.svg").find(">a/run</text>"), std::string::npos);
  EXPECT_NE(content("c.svg").find(">b/run</text>"), std::string::npos);
  ASSERT_EQ(plot({"a/run", "a/run"}, {"--out", path("c.svg")}).exit_code, 0);
  EXPECT_NE(content("c.svg").find(">" + path("a/run") + "</text>"), std::string::npos) << "given twice";
  ASSERT_EQ(plot({"a/run/"}, {"--out", path("c.svg")}).exit_code, 0);
  EXPECT_NE(content("c.svg").find(">run</text>"), std::string::npos);
}

TEST_F(PlotCommand, names_of_directories_stay_text) {
  make_run("<b>&", 3);
  ASSERT_EQ(plot({"<b>&"}, {"--out", path("c.svg")}).exit_code, 0);
  EXPECT_NE(content("c.svg").find(">&lt;b&gt;&amp;</text>"), std::string::npos);
}

TEST_F(PlotCommand, refuses_what_it_cannot_draw_and_leaves_nothing) {
  write_metrics("broken", "{\"step\":1,\"loss\":5}\nnonsense\n");
  const Words out = {"--out", path("c.svg")};
  EXPECT_REFUSAL(plot({}, out), 2, "RUN");
  EXPECT_REFUSAL(plot({"gated"}, {"--out", path("c.gif")}), 2, "a name that ends in .svg or .png");
  EXPECT_REFUSAL(plot({"gated"}, {"--x", "epochs"}), 2, "--x");
  EXPECT_REFUSAL(plot(Words(51, "gated"), out), 2, "at most 50");
  EXPECT_REFUSAL(plot({"none"}, out), 3, "not the directory of a run");
  EXPECT_REFUSAL(plot({"gated", "broken"}, out), 3, "metrics.jsonl: line 2");
  EXPECT_REFUSAL(plot({"gated"}, {"--out", path("none/c.svg")}), 1, "none/c.svg");
  EXPECT_FALSE(fs::exists(path("c.svg")));
}

}  // namespace
}  // namespace sluice::test
