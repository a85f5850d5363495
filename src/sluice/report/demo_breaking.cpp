#include "sluice/report/demo_breaking.h"

#include "sluice/report/ablation_report.h"
#include "sluice/report/ablation_tables.h"
#include "sluice/report/nursery.h"

namespace sluice {
namespace {

AblationRequest breaking_request(const std::filesystem::path& out, const std::vector<std::string>& variants,
                                 const std::string& log) {
  AblationRequest request{.models = {},
                          .texts = {{.name = "held-out text", .source = HeldOutText{}}},
                          .chunks = {.at_most = 32},
                          .out = out / log};
  for (const std::string& variant : variants) request.models.push_back((out / variant / "latest").string());
  request.plan.groups = {"global", "constants", "layers"};
  request.plan.global_actions = {"open", "closed", "head-mean"};
  request.plan.constants = {0, 0.1, 0.25, 0.5, 0.75, 1};
  request.plan.values = {};
  request.plan.layer_actions = {"open", "closed"};
  return request;
}

AblationResult broken(Engine& engine, const AblationRequest& request,
                      const std::vector<std::string>& variants, const JobControl& control) {
  AblationResult result = run_ablation(engine, request, control);
  for (size_t i = 0; i < variants.size(); ++i) result.models[i].name = variants[i];
  return result;
}

Section part_of(const AblationResult& result, const char* title, const char* anchor) {
  Section part{.title = title, .anchor = anchor, .blocks = {Paragraph{ablation_words(result)}}};
  Table models = ablated_models(result);
  models.name = std::string(anchor) + "_models";
  part.blocks.push_back(std::move(models));
  for (const AblatedModel& model : result.models)
    for (Section& section : ablation_sections(model, result)) part.subsections.push_back(std::move(section));
  Section twins = twins_section(result);
  twins.title = std::string(title) + ": beside each other";
  twins.anchor = std::string(anchor) + "-twins";
  part.subsections.push_back(std::move(twins));
  return part;
}

}  // namespace

DemoBreaking break_demo(Engine& engine, const std::filesystem::path& out, const std::string& prompt,
                        const JobControl& control) {
  const std::vector<std::string> pair = {kNursery.gated(), kNursery.baseline()},
                                 three = {"headwise", "elementwise", "baseline"};
  AblationRequest nursery = breaking_request(out, pair, "broken-nursery");
  nursery.plan.groups.emplace_back("heads");
  nursery.sample_tokens = 0;  // letters that follow a table tell a reader nothing
  AblationRequest text = breaking_request(out, three, "broken-text");
  text.prompt = prompt;
  text.sample_tokens = 24;
  return {.nursery = broken(engine, nursery, pair, control), .text = broken(engine, text, three, control)};
}

Section breaking_section(const DemoBreaking& broken) {
  return {
      .title = "What breaks",
      .anchor = "breaking",
      .blocks = {Paragraph{
          "The models of several heads once more, with their gates forced open, closed, to their means and "
          "to constants, all at once and one layer at a time; without a gate, what attention adds "
          "is scaled and zeroed instead."}},
      .subsections = {part_of(broken.nursery, "The nursery with several heads, broken", "broken-nursery"),
                      part_of(broken.text, "The models of text, broken", "broken-text")}};
}

std::string to_text(const DemoBreaking& broken) {
  return to_text(broken.nursery) + "\n" + to_text(broken.text);
}

}  // namespace sluice
