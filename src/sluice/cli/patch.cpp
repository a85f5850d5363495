#include "sluice/probe/patch.h"
#include "sluice/base/error.h"
#include "sluice/base/file_system.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/model_input.h"
#include "sluice/cli/use_case.h"
#include "sluice/report/patch_report.h"
#include "sluice/report/report_header.h"
#include "sluice/report/write_report.h"
#include "sluice/text/token_ids.h"

namespace sluice::cli {
namespace {

struct PatchOptions {
  ModelInput model;
  std::string clean, corrupted, answer, wrong;
  bool ids = false;
  std::vector<std::string> taps;
  std::string direction = "denoise", pieces = "both", out;
};

std::vector<TokenId> tokens_of(const PatchOptions& options, const LoadedModel& model, const std::string& text,
                               const std::string& option) {
  std::vector<TokenId> tokens =
      options.ids ? parse_ids(text, model.config().vocabulary, option, ErrorKind::Usage) : model.encode(text);
  if (tokens.empty()) throw usage_error({.where = option, .what = "has no tokens"});
  return tokens;
}

TokenId answer_of(const PatchOptions& options, const LoadedModel& model, const std::string& text,
                  const std::string& option) {
  if (!options.ids) return single_token(model, text, option);
  const std::vector<TokenId> tokens = tokens_of(options, model, text, option);
  if (tokens.size() == 1) return tokens.front();
  throw usage_error({.where = option,
                     .what = "not a single token",
                     .expected = "one id",
                     .got = std::to_string(tokens.size())});
}

PatchRequest patch_request(const PatchOptions& options, const LoadedModel& model) {
  const auto pieces = options.pieces == "heads"       ? PatchPieces::Heads
                      : options.pieces == "positions" ? PatchPieces::Positions
                                                      : PatchPieces::Both;
  return {.clean = tokens_of(options, model, options.clean, "--clean"),
          .corrupted = tokens_of(options, model, options.corrupted, "--corrupted"),
          .answer = answer_of(options, model, options.answer, "--answer"),
          .wrong = answer_of(options, model, options.wrong, "--wrong"),
          .taps = options.taps,
          .direction = options.direction == "noise" ? PatchDirection::Noise : PatchDirection::Denoise,
          .pieces = pieces};
}

void check_given(const PatchOptions& options) {
  const std::pair<const char*, const std::string&> required[] = {{"--clean", options.clean},
                                                                 {"--corrupted", options.corrupted},
                                                                 {"--answer", options.answer},
                                                                 {"--wrong", options.wrong}};
  for (const auto& [name, value] : required)
    if (value.empty()) throw usage_error({.where = "patch", .what = std::string(name) + " is required"});
  if (!options.out.empty()) check_can_fill(options.out);
}

void run(const PatchOptions& options, const Session& session) {
  check_given(options);
  Engine engine(session.options.engine());
  const LoadedModel model = options.model.open(engine, session);
  const PatchResult result = patch_prompts(model, patch_request(options, model), job_control(session));
  if (!options.out.empty()) {
    ReportHeader header = report_header(engine, session.command_line);
    header.sources.push_back(report_source("model", options.model.path));
    write_result(to_json(result), options.out);
    write_report(patch_report(result, std::move(header)), options.out);
  }
  print_result(session, result);
  if (!options.out.empty())
    session.log.info("the report is in {0}/report.html, its numbers in {0}/result.json and CSV files",
                     options.out);
}

Action declare_patch(Options& options) {
  auto target = std::make_shared<PatchOptions>();
  target->model.declare(options);
  options.text({.name = "--clean", .value = "TEXT", .text = "The prompt that leads to the answer"},
               target->clean);
  options.text({.name = "--corrupted",
                .value = "TEXT",
                .text = "The prompt that leads away from it, of as many tokens"},
               target->corrupted);
  options.text(
      {.name = "--answer", .value = "TOKEN", .text = "What should follow the clean prompt: one token"},
      target->answer);
  options.text({.name = "--wrong", .value = "TOKEN", .text = "What it is compared with: one token"},
               target->wrong);
  options.flag("--ids", target->ids, "These four are token ids, 1,2,3, instead of text");
  options.repeated({.name = "--tap",
                    .value = "TAP",
                    .text = "Where values are put: attn.gate, layers.0-3.mlp.out, attn.q (default: resid, "
                            "attn.gated and every gate)"},
                   target->taps);
  options.choice({.name = "--direction",
                  .value = "WAY",
                  .text = "denoise: clean values into the corrupted pass; noise: corrupted values into the "
                          "clean one (default: denoise)",
                  .words = {"denoise", "noise"}},
                 target->direction);
  options.choice({.name = "--by",
                  .value = "PIECES",
                  .text = "What is put at once: a position, a head, or maps of both (default: both)",
                  .words = {"positions", "heads", "both"}},
                 target->pieces);
  options.text({.name = "--out",
                .value = "DIR",
                .text = "Where the report goes: report.html, result.json, a CSV per map, figures as SVG and "
                        "PNG (default: none is written)"},
               target->out);
  return [target](const Session& session) { run(*target, session); };
}

}  // namespace

Command patch_command() {
  return {
      .name = "patch",
      .summary = "Find what carries an answer: put values of one prompt into another's pass",
      .description =
          "Activation patching. Runs a clean prompt, which leads to an answer, and a corrupted one of the "
          "same number of tokens, puts values of one into the pass of the other, layer by layer and "
          "position by position or head by head, and tells which share of the difference between the "
          "answer's and the wrong answer's logit that recovers: 0 is the corrupted prompt, 1 the clean "
          "one. Any tap that can be changed will do, gates among them.",
      .examples =
          {"sluice patch path/to/model --clean \"The capital of France is\" --corrupted \"The capital of "
           "Italy is\" --answer \" Paris\" --wrong \" Rome\" --out patch",
           "sluice patch path/to/model --ids --clean 1,2,3 --corrupted 4,2,3 --answer 5 --wrong 6 --tap "
           "attn.gate --by heads --json",
           "sluice patch path/to/model --clean \"A\" --corrupted \"B\" --answer \"a\" --wrong \"b\" "
           "--direction noise"},
      .dtype = model_dtype(),
      .declare = declare_patch};
}

}  // namespace sluice::cli
