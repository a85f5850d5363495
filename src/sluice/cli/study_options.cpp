#include "sluice/cli/study_options.h"

#include "sluice/base/error.h"
#include "sluice/base/file_system.h"
#include "sluice/cli/use_case.h"
#include "sluice/report/report_header.h"
#include "sluice/report/write_report.h"

namespace sluice::cli {

void StudyOptions::declare(Options& options) {
  options.arguments({.name = "MODEL", .value = "", .text = "Directories of models, or of runs"},
                    Presence::Required, models);
  text.declare(options);
  // Intervals are over sequences, which must not overlap.
  chunking.declare(options, ChunkingOptions::Overlap::None);
  options.integer({.name = "--key",
                   .value = "N",
                   .text = "The position that attention is measured on; any but the first takes longer "
                           "(default: 0)",
                   .low = 0,
                   .high = 1 << 24},
                  key);
  interventions.declare(options);
  options.text({.name = "--tokenizer",
                .value = "FILE|bytes",
                .text = "What the tokens of the models stand for (default: each model's own)"},
               tokenizer);
  weights.declare(options);
  options.text(
      {.name = "--out",
       .value = "DIR",
       .text = "Where the report goes: report.html, result.json, a CSV per table, figures as SVG and "
               "PNG (default: none is written)"},
      out);
}

void StudyOptions::declare_prompt(Options& options) {
  options.text({.name = "--prompt",
                .value = "TEXT",
                .text = "The prompt that is shown token by token (default: the first 64 tokens of the text)"},
               prompt.text);
}

void StudyOptions::declare_join(Options& options) {
  options.flag("--join", join,
               "Share the sequences with other processes, which are started with the same options at any "
               "time and on any machine that sees --out");
}

ReportHeader StudyOptions::header(const Engine& engine, const Session& session) const {
  ReportHeader header = report_header(engine, session.command_line);
  for (const std::string& model : models) header.sources.push_back(report_source("model", model));
  for (const std::string& path : text.data)
    if (path != "-") header.sources.push_back(report_source("data", path));
  if (!text.ids_file.empty()) header.sources.push_back(report_source("data", text.ids_file));
  return header;
}

StudyRequest StudyOptions::request(const std::string& command, const Session& session) const {
  const bool shares = join || session.launch.size > 1;
  if (shares && out.empty())
    throw usage_error(
        {.where = "--out", .what = "needed by processes that share their work: they meet there"});
  if (!out.empty() && !shares) check_can_fill(out);
  return {
      .models = models,
      .options = {.dtype = weight_type(session), .tokenizer = tokenizer, .nonfinite = weights.nonfinite()},
      .source = text.source(command),
      .chunks = text.held_out ? chunking.of_held_out(command) : chunking.chunks(),
      .interventions = interventions.texts,
      .calibration = interventions.calibration,
      .key = key.value_or(0),
      .prompt = prompt,
      .out = out,
      .sharing = {.joins = shares, .job = join ? "" : session.launch.job}};
}

void finish_study(const StudyOptions& options, const StudyOutput& output, const Session& session) {
  if (!options.out.empty()) {
    write_result(output.result, options.out);
    write_report(output.report, options.out);
  }
  if (session.options.json) {
    print_json(session, output.result);
  } else {
    session.out << output.text;
  }
  if (!options.out.empty())
    session.log.info("the report is in {0}/report.html, its numbers in {0}/result.json and CSV files",
                     options.out);
}

}  // namespace sluice::cli
