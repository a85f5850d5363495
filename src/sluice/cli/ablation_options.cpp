#include "sluice/cli/ablation_options.h"

#include <charconv>

#include "sluice/analysis/model_names.h"
#include "sluice/base/error.h"
#include "sluice/cli/use_case.h"

namespace sluice::cli {
namespace {

double positive(std::string_view text, const std::string& option) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc() && end == text.data() + text.size() && value > 0 && value < 1e6) return value;
  throw usage_error({.where = option,
                     .expected = "REL,ABS: two numbers above 0, a share of the effect and nats",
                     .got = std::string(text)});
}

}  // namespace

void AblationOptions::declare(Options& options) {
  options.arguments({.name = "MODEL", .value = "", .text = "Directories of models, or of runs"},
                    Presence::Required, models);
  declare_text(options);
  plan.declare(options);
  declare_precision(options);
  declare_output(options);
}

void AblationOptions::declare_text(Options& options) {
  text.declare(options);
  chunking.declare(options, ChunkingOptions::Overlap::None);
  options.text(
      {.name = "--calibration",
       .value = "FILE",
       .text = "The text that means and shuffled gates come from (default: up to 8 chunks behind those "
               "that are evaluated)"},
      calibration);
  options.text({.name = "--tokenizer",
                .value = "FILE|bytes",
                .text = "What the tokens of the models stand for (default: each model's own)"},
               tokenizer);
  weights.declare(options);
}

void AblationOptions::declare_precision(Options& options) {
  options.text({.name = "--precision",
                .value = "REL,ABS",
                .text = "A run rests when its effect is known to the larger of this share of it and so many "
                        "nats per token (default: 0.1,0.01)"},
               precision);
  options.number({.name = "--margin",
                  .value = "NATS",
                  .text = "Effects up to this do not matter: equivalent (default: 0.01)",
                  .low = 0,
                  .high = 100},
                 margin);
  options.flag("--exhaustive", exhaustive, "Let every run see every chunk");
  options.flag("--estimate", estimate, "Also estimate every layer and head from gradients");
  options.flag("--estimate-only", estimate_only, "Estimate, and run nothing");
  options.integer({.name = "--steps",
                   .value = "N",
                   .text = "Steps of integrated gradients for estimates (default: 0, first order alone)",
                   .low = 0,
                   .high = 1000},
                  steps);
  options.integer({.name = "--memory",
                   .value = "MIB",
                   .text = "Memory beside the weights that runs of a chunk may share (default: 1024)",
                   .low = 1,
                   .high = 1 << 20},
                  memory);
  options.integer({.name = "--seed",
                   .value = "N",
                   .text = "Of the order of chunks, shuffles and noise (default: 0)",
                   .low = 0,
                   .high = 1L << 40},
                  seed);
}

void AblationOptions::declare_output(Options& options) {
  options.text({.name = "--prompt",
                .value = "TEXT",
                .text = "What broken models go on from (default: the beginning of the first text)"},
               prompt);
  options.integer({.name = "--sample",
                   .value = "N",
                   .text = "Tokens that they write (default: 40; 0: none)",
                   .low = 0,
                   .high = 100000},
                  sample_tokens);
  options.flag("--print-plan", print_plan, "Print the plan as JSON, and run nothing");
  options.flag("--dry-run", dry_run, "Say what it would take, and run nothing but a short trial");
  options.text(
      {.name = "--out",
       .value = "DIR",
       .text = "Where log and report go: report.html, result.json, a CSV per table, figures as SVG and "
               "PNG"},
      out);
  options.flag("--resume", resume, "Go on where the ablation in --out stopped");
  options.flag(
      "--join", join,
      "Share the chunks with other processes, which are started with the same options at any time and "
      "on any machine that sees --out");
}

void AblationOptions::check() const {
  const std::pair<bool, const char*> contradictions[] = {
      {print_plan && dry_run, "--print-plan and --dry-run"},
      {exhaustive && !precision.empty(), "--exhaustive and --precision"},
      {estimate && estimate_only, "--estimate and --estimate-only"},
      {resume && (print_plan || dry_run), "--resume and what runs nothing"},
      {join && (print_plan || dry_run || estimate_only), "--join and what runs nothing"},
      {estimate_only && exhaustive, "--estimate-only and --exhaustive"},
      {estimate_only && !precision.empty(), "--estimate-only and --precision"},
      {estimate_only && margin != StoppingRule().margin, "--estimate-only and --margin"},
      {estimate_only && print_plan, "--estimate-only and --print-plan"},
      {estimate_only && prompt.has_value(), "--estimate-only and --prompt"},
      {estimate_only && sample_tokens.has_value(), "--estimate-only and --sample"},
      {prompt.has_value() && sample_tokens == 0, "--prompt and --sample 0"}};
  for (const auto& [both, names] : contradictions)
    if (both) throw usage_error({.where = "ablate", .what = std::string(names) + " contradict each other"});
  if (const char* given = plan.given(); estimate_only && given != nullptr)
    throw usage_error({.where = given,
                       .what = "does not go with --estimate-only, which runs nothing",
                       .hint = "--estimate estimates beside what is run"});
  if (steps && !estimate && !estimate_only)
    throw usage_error({.where = "--steps", .what = "is of --estimate and --estimate-only"});
  if (out.empty() && !print_plan && !dry_run)
    throw usage_error({.where = "ablate", .what = "give --out: where log and report go"});
  if (print_plan && models.size() > 1)
    throw usage_error({.where = "--print-plan", .what = "a plan is of one model"});
}

std::vector<AblationText> AblationOptions::texts() const {
  const TextSource whole = text.source("ablate");
  if (text.held_out) return {{.name = "held-out", .source = whole}};
  if (text.data.empty()) return {{.name = text.ids_file, .source = whole}};
  std::vector<AblationText> each;
  const std::vector<std::string> names = names_of_models(text.data);
  for (size_t i = 0; i < names.size(); ++i)
    each.push_back(
        {.name = names[i], .source = DataFiles{.paths = {text.data[i]}, .format = text.format.format()}});
  return each;
}

StoppingRule AblationOptions::rule() const {
  StoppingRule rule{.margin = margin};
  if (precision.empty()) return rule;
  const size_t comma = precision.find(',');
  rule.relative = positive(precision.substr(0, comma), "--precision");
  rule.absolute = positive(comma == std::string::npos ? "" : precision.substr(comma + 1), "--precision");
  return rule;
}

AblationRequest AblationOptions::request(const Session& session) const {
  check();
  // Whatever throws comes first: amid the braces below an exception crashed what g++ 12 makes of them.
  const StoppingRule stopping = rule();
  const ChunkOptions cut = text.held_out ? chunking.of_held_out("ablate") : chunking.chunks();
  std::vector<AblationText> read = texts();
  AblationRequest request{
      .models = models,
      .options = {.dtype = weight_type(session), .tokenizer = tokenizer, .nonfinite = weights.nonfinite()},
      .texts = std::move(read),
      .chunks = cut,
      .seed = static_cast<uint64_t>(seed.value_or(0)),
      .rule = stopping,
      .coverage = exhaustive ? Coverage::Exhaustive : Coverage::UntilDecided,
      .estimates = estimate_only ? EstimateUse::Instead
                   : estimate    ? EstimateUse::Beside
                                 : EstimateUse::None,
      .prompt = prompt,
      .out = out,
      .start = resume ? LogStart::Resume : LogStart::New,
      .sharing = {.joins = join || session.launch.size > 1, .job = join ? "" : session.launch.job}};
  if (!calibration.empty()) request.calibration = DataFiles{.paths = {calibration}};
  request.estimate_steps = steps.value_or(0);
  request.memory = memory.value_or(1024) << 20;
  request.sample_tokens = sample_tokens.value_or(request.sample_tokens);
  request.plan.seed = request.seed;
  plan.apply(request);
  return request;
}

}  // namespace sluice::cli
