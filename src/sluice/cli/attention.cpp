#include "sluice/cli/commands.h"
#include "sluice/cli/study_options.h"
#include "sluice/cli/use_case.h"
#include "sluice/report/study_report.h"

namespace sluice::cli {
namespace {

struct AttentionOptions {
  StudyOptions study;
  std::string layers, scale = "linear";
  bool heads = false;
};

MapScale scale_of(const std::string& word) {
  if (word == "log") return MapScale::Log;
  return word == "without-first" ? MapScale::WithoutFirst : MapScale::Linear;
}

void run(const AttentionOptions& options, const Session& session) {
  StudyRequest request = options.study.request("attention", session);
  if (!options.layers.empty()) request.prompt->map_layers = IndexSet::parse(options.layers);
  request.prompt->map_heads = options.heads;
  Engine engine(session.options.engine());
  const Study study = study_models(engine, request, job_control(session));
  finish_study(
      options.study,
      {.report = attention_report(study, options.study.header(engine, session), scale_of(options.scale)),
       .result = to_json(study),
       .text = attention_text(study)},
      session);
}

Action declare_attention(Options& options) {
  auto target = std::make_shared<AttentionOptions>();
  target->study.declare(options);
  target->study.declare_prompt(options);
  options.text({.name = "--layers",
                .value = "SET",
                .text = "Layers whose maps are drawn: 0,3-5 (default: four, spread over the depth)"},
               target->layers);
  options.flag("--heads", target->heads, "Draw a map of every head instead of their mean");
  options.choice(
      {.name = "--scale",
       .value = "S",
       .text = "Of the maps' colours: linear, log, or without-first, which leaves the first key out "
               "(default: linear)",
       .words = {"linear", "log", "without-first"}},
      target->scale);
  return [target](const Session& session) { run(*target, session); };
}

}  // namespace

Command attention_command() {
  return {.name = "attention",
          .summary = "Measure where the attention of models goes: sink, entropy, maps, massive activations",
          .description =
              "Looks at one or several models over a text: how much attention lies on the first key, or on "
              "another, by "
              "layer and head, beside what uniform attention would put there; entropy; the largest "
              "activations with "
              "their channel and token; and maps of chosen layers on one prompt.",
          .examples =
              {"sluice attention path/to/model --data wiki.txt --out look",
               "sluice attention baseline gated --data wiki.txt --prompt \"Once upon a time\" --out look",
               "sluice attention path/to/model --data wiki.txt --layers 0,5 --heads --scale log --out look"},
          .dtype = model_dtype(),
          .declare = declare_attention};
}

}  // namespace sluice::cli
