#include "sluice/experiment/experiment.h"

#include <fmt/format.h>

#include "sluice/base/json.h"

namespace sluice {
namespace {

constexpr double kWholeError = 0.05;  // what all looks together may spend

constexpr Choice<ExperimentText::Kind> kTextKinds[] = {{"backcopy", ExperimentText::Kind::Backcopy},
                                                       {"synth", ExperimentText::Kind::Synth},
                                                       {"file", ExperimentText::Kind::File}};

constexpr Choice<ConditionAxis> kConditionAxes[] = {{"values", ConditionAxis::Values},
                                                    {"names", ConditionAxis::Names}};

std::vector<std::string> texts_of(const Json& json, std::string_view key) {
  std::vector<std::string> texts;
  if (!json.contains(key)) return texts;
  for (const Json& each : json.at(key).array()) texts.push_back(each.text());
  return texts;
}

ExperimentText read_text(const Json& json) {
  json.allow_keys({"kind", "seed", "documents", "bytes", "file", "vocabulary"});
  ExperimentText text{.kind = json.choice("kind", kTextKinds)};
  text.seed = static_cast<uint64_t>(json.integer_or("seed", 1, {.min = 0}));
  text.documents = json.integer_or("documents", text.documents, {.min = 1, .max = 100'000'000});
  text.bytes = json.integer_or("bytes", text.bytes, {.min = 1, .max = int64_t{1} << 40});
  text.file = json.text_or("file", "");
  text.vocabulary = json.integer_or("vocabulary", 0, {.min = 0, .max = 1'000'000});
  if ((text.kind == ExperimentText::Kind::File) == text.file.empty())
    throw json.unexpected("a file for texts of kind \"file\", and for no other");
  if (text.kind == ExperimentText::Kind::Backcopy && text.vocabulary != 0)
    throw json.at("vocabulary").unexpected("none: the letters of a backcopy text are bytes");
  return text;
}

// Of a directory, or of a part of its name.
std::string read_name(const Json& json) {
  const std::string name = json.text();
  if (name.empty() || name == "." || name == ".." || name.find_first_of("/,") != std::string::npos)
    throw json.unexpected("a name without / and commas: directories are named after it");
  return name;
}

NamedChanges read_named_changes(const Json& json) {
  return {.name = read_name(json.at("name")), .changes = texts_of(json, "set")};
}

std::vector<ExperimentVariant> read_variants(const Json& json) {
  std::vector<ExperimentVariant> variants;
  for (const Json& each : json.array()) {
    each.allow_keys({"name", "set", "equal_parameters"});
    variants.push_back({read_named_changes(each), each.boolean_or("equal_parameters", false)});
  }
  if (variants.empty()) throw json.unexpected("at least one variant");
  return variants;
}

std::vector<ExperimentCondition> read_conditions(const Json& json, ConditionAxis axis) {
  std::vector<ExperimentCondition> conditions;
  for (const Json& each : json.array()) {
    each.allow_keys({"name", "set", "at"});
    if (axis == ConditionAxis::Names && each.contains("at"))
      throw each.at("at").unexpected("none: conditions that are names have no place on a line");
    conditions.push_back({read_named_changes(each), each.optional_number("at", kFinite)});
  }
  return conditions;
}

void read_grid(const Json& json, Experiment& experiment) {
  for (const std::string& axis : texts_of(json, "vary"))
    experiment.axes.push_back(parse_grid_axis(axis, json.at("vary").where()));
  if (json.contains("variants")) {
    if (!experiment.axes.empty()) throw json.at("variants").unexpected("either \"vary\" or \"variants\"");
    experiment.variants = read_variants(json.at("variants"));
  }
  if (!json.contains("conditions")) return;
  if (experiment.variants.empty()) throw json.at("conditions").unexpected("variants beside conditions");
  experiment.condition = json.text("condition");
  if (json.contains("condition_axis"))
    experiment.condition_axis = json.choice("condition_axis", kConditionAxes);
  experiment.conditions = read_conditions(json.at("conditions"), experiment.condition_axis);
}

BreakingPlan read_breaking(const Json& json) {
  json.allow_keys({"interventions", "train_on", "rate"});
  BreakingPlan plan{.train_on = json.integer_or("train_on", 0, {.min = 0, .max = 1'000'000}),
                    .rate = json.number_or("rate", 3e-4, {.min = 0, .max = 1})};
  for (const Json& each : json.at("interventions").array()) {
    each.allow_keys({"name", "do"});
    plan.interventions.push_back({.name = each.text("name"), .changes = texts_of(each, "do")});
  }
  return plan;
}

std::vector<ExperimentLook> read_looks(const Json& json, int seeds) {
  std::vector<ExperimentLook> looks;
  double spent = 0;
  for (const Json& each : json.array()) {
    each.allow_keys({"pairs", "error"});
    looks.push_back({.pairs = each.integer("pairs", {.min = 2, .max = seeds}),
                     .error = each.number("error", {.min = 1e-6, .max = kWholeError})});
    spent += looks.back().error;
    if (looks.size() > 1 && looks[looks.size() - 2].pairs >= looks.back().pairs)
      throw each.unexpected("more pairs than at the look before");
  }
  if (spent > kWholeError + 1e-12)
    throw json.unexpected(fmt::format("errors that add up to at most {}", kWholeError));
  return looks;
}

}  // namespace

std::string ExperimentText::stem() const {
  const std::string tokens = vocabulary == 0 ? "" : fmt::format("-v{}", vocabulary);
  switch (kind) {
    case Kind::Backcopy:
      return fmt::format("backcopy-{}-{}", seed, documents);
    case Kind::Synth:
      return fmt::format("synth-{}-{}{}", seed, bytes, tokens);
    case Kind::File:
      break;
  }
  return std::filesystem::path(file).stem().string() + tokens;
}

Experiment read_experiment(const std::filesystem::path& file) {
  const Json json = Json::load(file);
  json.allow_keys({"question", "method",     "known_before", "limits",    "text",       "run",
                   "set",      "vary",       "variants",     "condition", "conditions", "condition_axis",
                   "seeds",    "first_seed", "looks",        "solved",    "course",     "runs",
                   "tuned_by", "breaking",   "equal_loss"});
  Experiment experiment{
      .name = file.stem().string(),
      .question = json.text("question"),
      .method = texts_of(json, "method"),
      .known_before = texts_of(json, "known_before"),
      .limits = texts_of(json, "limits"),
      .text = read_text(json.at("text")),
      .run = json.text("run"),
      .changes = texts_of(json, "set"),
      .seeds = static_cast<int>(json.integer("seeds", {.min = 1, .max = 1000})),
      .first_seed = static_cast<int>(json.integer_or("first_seed", 1, {.min = 1, .max = 1'000'000}))};
  read_grid(json, experiment);
  experiment.looks = read_looks(json.at("looks"), experiment.seeds);
  if (experiment.looks.empty() && experiment.seeds > 1 && !json.contains("breaking"))
    throw json.at("looks").unexpected("at least one look, if there are seeds to compare");
  experiment.solved = json.optional_number("solved", {.min = 0, .max = 1});
  if (experiment.solved && experiment.text.kind != ExperimentText::Kind::Backcopy)
    throw json.at("solved").unexpected("none: only a backcopy text has copies to count");
  if (json.contains("runs")) experiment.runs = read_name(json.at("runs"));
  if (json.contains("tuned_by"))
    experiment.tuned_by = file.parent_path() / (read_name(json.at("tuned_by")) + ".json");
  if (json.contains("breaking")) experiment.breaking = read_breaking(json.at("breaking"));
  experiment.course = json.boolean_or("course", false);
  experiment.equal_loss = json.number_or("equal_loss", experiment.equal_loss, {.min = 0, .max = 10});
  return experiment;
}

}  // namespace sluice
