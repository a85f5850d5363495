#include "sluice/cli/commands.h"
#include "sluice/cli/study_options.h"
#include "sluice/cli/type_options.h"
#include "sluice/cli/use_case.h"
#include "sluice/report/report_header.h"
#include "sluice/report/study_report.h"

namespace sluice::cli {
namespace {

struct GatesOptions {
  StudyOptions study;
  TypeOptions types;
  std::vector<std::string> second;
  bool lens = false;
  std::optional<int64_t> first_words;
};

ReportHeader header_of(const GatesOptions& options, const Engine& engine, const Session& session) {
  ReportHeader header = options.study.header(engine, session);
  for (const std::string& path : options.second) header.sources.push_back(report_source("second text", path));
  for (const std::string& path : options.types.files()) header.sources.push_back(report_source("type", path));
  return header;
}

void run(const GatesOptions& options, const Session& session) {
  StudyRequest request = options.study.request("gates", session);
  request.types = options.types.texts();
  request.type_length = options.types.length.value_or(request.type_length);
  request.prompt->lens = options.lens;
  request.first_words = options.first_words.value_or(0);
  if (!options.second.empty()) {
    request.second = DataFiles{.paths = options.second};
    request.second_chunks = request.chunks;  // gates by position are alike only in sequences of one length
  }
  Engine engine(session.options.engine());
  request.publish = [&](const Study& study) {
    finish_study(options.study,
                 {.report = gates_report(study, header_of(options, engine, session)),
                  .result = to_json(study),
                  .text = gates_text(study)},
                 session);
  };
  const Study study = study_models(engine, request, job_control(session));
  if (study.is_elsewhere)
    session.log.info("all sequences have been looked at; another process has the result");
}

Action declare_gates(Options& options) {
  auto target = std::make_shared<GatesOptions>();
  target->study.declare(options);
  target->study.declare_prompt(options);
  target->study.declare_join(options);
  target->types.declare(options);
  options.flag("--lens", target->lens,
               "Also what each layer would predict for the prompt, and how far opening its gates moves that");
  options.integer(
      {.name = "--first-words",
       .value = "N",
       .text = "Also N short sequences that each begin with another token: is what is said of the "
               "first token true of any? (default: none)",
       .low = 2,
       .high = 100000},
      target->first_words);
  options.list({.name = "--second",
                .value = "FILE...",
                .text = "A second kind of text, code for example, beside the first"},
               target->second);
  return [target](const Session& session) { run(*target, session); };
}

}  // namespace

Command gates_command() {
  return {.name = "gates",
          .summary = "Measure what the gates of models do on text, with figures and a report",
          .description =
              "Looks at every gate of one or several models over a text: distribution, layers and heads, the "
              "first "
              "token against the others, positions, channels, types of text, what goes with an open gate, "
              "and the "
              "tokens that open and close each head. Intervals are bootstraps over sequences. mpirun or "
              "srun shares the sequences out over processes; what one that dies had begun, another takes up.",
          .examples = {"sluice gates path/to/model --data wiki.txt --samples 200 --out look",
                       "sluice gates headwise elementwise --data wiki.txt --second code.txt --out look",
                       "sluice gates run --held-out --json"},
          .dtype = model_dtype(),
          .processes = Processes::Pieces,
          .declare = declare_gates};
}

}  // namespace sluice::cli
