#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <sstream>

#include "sluice/base/error.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/training.h"
#include "sluice/cli/use_case.h"
#include "sluice/report/demo_report.h"
#include "sluice/report/report_header.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

struct DemoOptions {
  std::optional<std::string> out;  // none: the first of sluice-demo, sluice-demo-2, … that does not exist
  int steps = 300;
};

std::string free_name() {
  std::error_code error;
  std::string name = "sluice-demo";
  for (int i = 2; fs::exists(name, error); ++i) name = fmt::format("sluice-demo-{}", i);
  return name;
}

// As it can be typed: with its path, unless the shell finds it by name.
std::string own_name() {
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error);
  const char* path = std::getenv("PATH");
  std::istringstream places(path == nullptr ? "" : path);
  for (std::string place; std::getline(places, place, ':');)
    if (fs::equivalent(fs::path(place) / "sluice", own, error)) return "sluice";
  return own.empty() ? "sluice" : own.string();
}

DemoResult demo(Engine& engine, const DemoRequest& request, const Session& session) {
  TrainingDisplay display(engine, session.log);
  DemoObserver observer{.run = display.observer()};
  observer.nursery_begins = [&](int64_t documents) {
    display.info("making {} documents of a nursery for attention sinks", documents);
  };
  observer.nursery_ended = [&](const std::string& title, const std::string& answer) {
    display.info("{}: {}", title, answer);
  };
  observer.corpus_begins = [&](int64_t bytes) {
    display.info("making {} MB of text and a tokenizer", bytes / 1'000'000);
  };
  observer.breaking_begins = [&] { display.info("breaking the models, one gate at a time"); };
  observer.model_begins = [&](const DemoObserver::NextModel& next) {
    display.info("training {}: {} parameters, {} tokens", next.variant, next.parameters, next.tokens);
  };
  return run_demo(engine, request, training_control(session), observer);
}

void run(const DemoOptions& request, const Session& session) {
  if (request.out && request.out->empty())
    throw usage_error({.where = "--out", .what = "a directory has a name", .got = "\"\""});
  const std::string out = request.out ? *request.out : free_name();
  Engine engine(session.options.engine());
  const DemoResult result =
      demo(engine,
           {.out = out,
            .steps = request.steps,
            .precision = session.options.dtype == "f32" ? Precision::F32 : Precision::Bf16},
           session);
  write_demo_report(result, report_header(engine, session.command_line));
  print_result(session, result);
  session.log.info(
      "the report is in {0}/report.html (as text: report.txt), the curves in {0}/curves.svg, "
      "the figures in {0}/result.json",
      out);
  session.log.info("look into the models in a browser: {} explore{}", own_name(),
                   out == "sluice-demo" ? "" : " " + out);
}

Action declare_demo(Options& options) {
  auto request = std::make_shared<DemoOptions>();
  options.text({.name = "--out",
                .value = "DIR",
                .text = "Where everything goes (default: sluice-demo, or sluice-demo-2 and so on)"},
               request->out);
  options.integer({.name = "--steps",
                   .value = "N",
                   .text = "Training steps of each model of the text; those of the nursery take five times "
                           "as many (default: 300)",
                   .low = 1,
                   .high = 1000000},
                  request->steps);
  return [request](const Session& session) { run(*request, session); };
}

}  // namespace

Command demo_command() {
  return {
      .name = "demo",
      .summary = "Grow an attention sink, see what a gate does to it, and compare gated models of text",
      .description =
          "First a nursery: letters that follow each other by a table, with copies that take a head "
          "(sluice data synth --kind backcopy). Two pairs of small models are trained on it, without and "
          "with a gate per head, of one layer with one head and of three layers with two, scored and "
          "looked at: attention sink by layer and head, largest activation, an attention map of each, and "
          "what stored runs of other seeds say. Then it makes a corpus, trains a tokenizer, a baseline, a "
          "headwise and an elementwise gated model of the same size on it, and shows what tells them "
          "apart: perplexity, attention sink, massive activation, gates, loss spikes, speed. At last it "
          "breaks those of several heads, gate by gate (sluice ablate). Leaves report.html with tables and "
          "figures (also as report.md and report.txt), each figure as SVG and PNG, a CSV per table and "
          "result.json. Takes a few minutes.",
      .examples = {"sluice demo", "sluice demo --out my-demo --steps 1000"},
      .dtype = {.text = "Products of the text's models in bf16 or f32 (default: bf16)",
                .words = {"f32", "bf16"}},
      .declare = declare_demo};
}

}  // namespace sluice::cli
