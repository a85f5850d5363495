#include "sluice/base/error.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/study_options.h"
#include "sluice/cli/use_case.h"
#include "sluice/report/study_report.h"

namespace sluice::cli {
namespace {

void run(const StudyOptions& options, const Session& session) {
  if (options.models.size() < 2) throw usage_error({.where = "compare", .what = "give two models or more"});
  Engine engine(session.options.engine());
  StudyRequest request = options.request("compare", session);
  request.text = TextMatch::Same;
  request.prompt = {};
  const ModelComparison comparison = compare_models(study_models(engine, request, job_control(session)));
  finish_study(options,
               {.report = comparison_report(comparison, options.header(engine, session)),
                .result = to_json(comparison),
                .text = to_text(comparison)},
               session);
}

Action declare_compare(Options& options) {
  auto target = std::make_shared<StudyOptions>();
  target->declare(options);
  return [target](const Session& session) { run(*target, session); };
}

}  // namespace

Command compare_command() {
  return {.name = "compare",
          .summary = "Compare models on the same text: perplexity, sink, massive activation, gates",
          .description =
              "Every figure of each model, and its difference from the first one, paired sequence by "
              "sequence, with an "
              "interval and a test. The models must have the same tokenizer.",
          .examples = {"sluice compare baseline gated --data wiki.txt --out comparison",
                       "sluice compare runs/baseline runs/headwise runs/elementwise --held-out --json"},
          .dtype = model_dtype(),
          .declare = declare_compare};
}

}  // namespace sluice::cli
