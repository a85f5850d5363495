#include "sluice/experiment/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sluice/base/json.h"
#include "sluice/data/tokenize.h"

namespace sluice {
namespace {

constexpr double kWholeError = 0.05;  // what all looks together may spend
constexpr size_t kLongestName = 100;
constexpr int64_t kFewestTokens = 257;  // of a tokenizer that is trained: bytes and an end of text

constexpr Choice<ExperimentText::Kind> kTextKinds[] = {{"backcopy", ExperimentText::Kind::Backcopy},
                                                       {"synth", ExperimentText::Kind::Synth},
                                                       {"file", ExperimentText::Kind::File}};

constexpr Choice<ConditionAxis> kConditionAxes[] = {{"values", ConditionAxis::Values},
                                                    {"names", ConditionAxis::Names}};

bool is_control_character(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

std::vector<std::string> texts_of(const Json& json, std::string_view key) {
  std::vector<std::string> texts;
  if (!json.contains(key)) return texts;
  for (const Json& each : json.at(key).array()) texts.push_back(each.text());
  return texts;
}

// To a run's configuration, or to a model.
std::vector<std::string> changes_of(const Json& json, std::string_view key) {
  std::vector<std::string> changes = texts_of(json, key);
  if (std::ranges::any_of(
          changes, [](const std::string& each) { return std::ranges::any_of(each, is_control_character); }))
    throw json.at(key).unexpected("changes without control characters");
  return changes;
}

// To a run's configuration.
std::vector<std::string> read_changes(const Json& json) {
  std::vector<std::string> changes = changes_of(json, "set");
  if (std::ranges::any_of(changes, [](const std::string& each) { return each.starts_with("seed="); }))
    throw json.at("set").unexpected("no seed: every run has that of its pair");
  return changes;
}

ExperimentText read_text(const Json& json) {
  json.allow_keys({"kind", "seed", "documents", "start", "bytes", "file", "vocabulary", "pieces"});
  ExperimentText text{.kind = json.choice("kind", kTextKinds)};
  text.seed = static_cast<uint64_t>(json.integer_or("seed", 1, {.min = 0}));
  text.documents = json.integer_or("documents", text.documents, {.min = 1, .max = 100'000'000});
  if (json.contains("start")) text.start = json.choice("start", kBackcopyStarts);
  text.bytes = json.integer_or("bytes", text.bytes, {.min = 1, .max = int64_t{1} << 40});
  text.file = json.text_or("file", "");
  if (const std::filesystem::path path(text.file);
      path.is_absolute() || std::ranges::find(path, "..") != path.end())
    throw json.at("file").unexpected("a path below the home");
  text.vocabulary = json.integer_or("vocabulary", 0, {.min = 0, .max = 1'000'000});
  if (text.vocabulary != 0 && text.vocabulary < kFewestTokens)
    throw json.at("vocabulary").unexpected(fmt::format("0, for bytes, or at least {}", kFewestTokens));
  if (json.contains("pieces"))
    text.pieces = json.integer("pieces", {.min = kFewestPieceTokens, .max = 1 << 20});
  if ((text.kind == ExperimentText::Kind::File) == text.file.empty())
    throw json.unexpected("a file for texts of kind \"file\", and for no other");
  for (const char* key : {"start", "documents"})
    if (text.kind != ExperimentText::Kind::Backcopy && json.contains(key))
      throw json.at(key).unexpected("none: only of a backcopy text");
  if (text.kind != ExperimentText::Kind::Synth && json.contains("bytes"))
    throw json.at("bytes").unexpected("none: only of texts of kind \"synth\"");
  if (text.kind == ExperimentText::Kind::File && json.contains("seed"))
    throw json.at("seed").unexpected("none: a file is as it is");
  if (text.kind == ExperimentText::Kind::Backcopy && text.vocabulary != 0)
    throw json.at("vocabulary").unexpected("none: the letters of a backcopy text are bytes");
  if (text.kind == ExperimentText::Kind::Backcopy && text.pieces)
    throw json.at("pieces").unexpected("none: documents of a backcopy text have the length of a sequence");
  return text;
}

// Of a directory, or of a part of its name.
std::string read_name(const Json& json) {
  const std::string name = json.text();
  if (name.empty() || name == "." || name == ".." || name.find_first_of("/, ") != std::string::npos ||
      std::ranges::any_of(name, is_control_character) || name.size() > kLongestName)
    throw json.unexpected(
        fmt::format("a name of at most {} bytes without /, commas, spaces and control characters: "
                    "directories are named after it",
                    kLongestName));
  return name;
}

// Lines of a plan (ledger.h) are names and changes; a name that looked like a change would be taken for one.
std::string read_intervention_name(const Json& json) {
  const std::string name = json.text();
  if (name.size() > kLongestName || name.find('=') != std::string::npos ||
      std::ranges::any_of(name, is_control_character))
    throw json.unexpected(
        fmt::format("a name of at most {} bytes without = and control characters", kLongestName));
  return name;
}

// The file of another experiment, beside this one's.
std::filesystem::path read_neighbour(const Json& json, const std::filesystem::path& file) {
  const std::filesystem::path other = file.parent_path() / (read_name(json) + ".json");
  std::error_code unknown;
  if (!std::filesystem::exists(other, unknown))
    throw json.unexpected("the name of another experiment", fmt::format("{} is not there", other.string()));
  return other;
}

NamedChanges read_named_changes(const Json& json) {
  return {.name = read_name(json.at("name")), .changes = read_changes(json)};
}

// What is told apart by names alone, written as one word.
void check_own_name(const Json& json, std::set<std::string>& names) {
  const std::string name = as_one_word(json.text("name"));
  if (name.empty() || !names.insert(name).second)
    throw json.at("name").unexpected("a name that no other has");
}

std::vector<ExperimentVariant> read_variants(const Json& json) {
  std::vector<ExperimentVariant> variants;
  std::set<std::string> names;
  for (const Json& each : json.array()) {
    each.allow_keys({"name", "set", "equal_parameters"});
    variants.push_back({read_named_changes(each), each.boolean_or("equal_parameters", false)});
    check_own_name(each, names);
  }
  if (variants.empty()) throw json.unexpected("at least one variant");
  return variants;
}

std::vector<ExperimentCondition> read_conditions(const Json& json, ConditionAxis axis) {
  std::vector<ExperimentCondition> conditions;
  std::set<std::string> names;
  for (const Json& each : json.array()) {
    each.allow_keys({"name", "set", "at"});
    if (axis == ConditionAxis::Names && each.contains("at"))
      throw each.at("at").unexpected("none: conditions that are names have no place on a line");
    conditions.push_back({read_named_changes(each), each.optional_number("at", kFinite)});
    check_own_name(each, names);
  }
  const auto placed =
      std::ranges::count_if(conditions, [](const ExperimentCondition& each) { return each.at.has_value(); });
  if (placed != 0 && placed != std::ssize(conditions))
    throw json.unexpected("\"at\" in all of them or in none: parameters stand on an axis of their own");
  return conditions;
}

void read_grid(const Json& json, Experiment& experiment) {
  for (const std::string& axis : texts_of(json, "vary"))
    experiment.axes.push_back(parse_grid_axis(axis, json.at("vary").where()));
  if (json.contains("variants")) {
    if (!experiment.axes.empty()) throw json.at("variants").unexpected("either \"vary\" or \"variants\"");
    experiment.variants = read_variants(json.at("variants"));
  }
  for (const char* key : {"condition", "condition_axis"})
    if (!json.contains("conditions") && json.contains(key))
      throw json.at(key).unexpected("none without conditions");
  if (!json.contains("conditions")) return;
  if (experiment.variants.empty()) throw json.at("conditions").unexpected("variants beside conditions");
  experiment.condition = json.text("condition");
  if (json.contains("condition_axis"))
    experiment.condition_axis = json.choice("condition_axis", kConditionAxes);
  experiment.conditions = read_conditions(json.at("conditions"), experiment.condition_axis);
}

size_t read_against(const Json& json, const std::vector<PlannedIntervention>& interventions, size_t own) {
  const auto other = static_cast<size_t>(std::ranges::find(interventions, json.text(), &NamedChanges::name) -
                                         interventions.begin());
  if (other == interventions.size() || other == own)
    throw json.unexpected("the name of another intervention");
  return other;
}

BreakingPlan read_breaking(const Json& json) {
  json.allow_keys({"interventions", "train_on", "rate"});
  BreakingPlan plan{.train_on = json.integer_or("train_on", 0, {.min = 0, .max = 1'000'000}),
                    .rate = json.number_or("rate", 3e-4, {.min = 0, .max = 1})};
  if (plan.train_on == 0 && json.contains("rate"))
    throw json.at("rate").unexpected("none: without train_on nothing is trained");
  std::set<std::string> names;
  for (const Json& each : json.at("interventions").array()) {
    each.allow_keys({"name", "do", "control", "against"});
    check_own_name(each, names);
    if (each.at("do").array().empty()) throw each.at("do").unexpected("at least one intervention");
    plan.interventions.push_back(
        {{.name = read_intervention_name(each.at("name")), .changes = changes_of(each, "do")},
         each.boolean_or("control", false)});
  }
  for (size_t i = 0; i < plan.interventions.size(); ++i)
    if (const Json each = json.at("interventions").at(i); each.contains("against"))
      plan.interventions[i].against = read_against(each.at("against"), plan.interventions, i);
  return plan;
}

std::vector<ExperimentLook> read_looks(const Json& json, int seeds) {
  std::vector<ExperimentLook> looks;
  double spent = 0;
  if (seeds == 1 && !json.array().empty()) throw json.unexpected("none: a seed alone makes one pair");
  for (const Json& each : json.array()) {
    each.allow_keys({"pairs", "error"});
    looks.push_back({.pairs = each.integer("pairs", {.min = 2, .max = seeds}),
                     .error = each.number("error", {.min = 1e-6, .max = kWholeError})});
    spent += looks.back().error;
    if (looks.size() > 1 && looks[looks.size() - 2].pairs >= looks.back().pairs)
      throw each.at("pairs").unexpected("more pairs than at the look before");
  }
  if (spent > kWholeError + 1e-12)
    throw bad_input({.where = json.where(),
                     .expected = fmt::format("errors that add up to at most {}", kWholeError),
                     .got = fmt::format("{:g}", spent)});
  return looks;
}

WrittenAnswer read_answer(const Json& json, const std::vector<ExperimentLook>& looks) {
  json.allow_keys({"pairs", "text"});
  const WrittenAnswer answer{.pairs = json.integer_or("pairs", 0, {.min = 0}),
                             .paragraphs = texts_of(json, "text")};
  if (looks.empty() ? answer.pairs != 0
                    : std::ranges::count(looks, answer.pairs, &ExperimentLook::pairs) == 0)
    throw json.at("pairs").unexpected("the pairs of a planned look, and none where none is planned");
  if (answer.paragraphs.empty()) throw json.unexpected("a text of at least one paragraph");
  return answer;
}

// Per tenfold of the conditions' axis, so all of them need a place on it, above zero.
bool read_slope(const Json& json, const Experiment& experiment) {
  const bool is_asked = json.boolean();
  if (!is_asked) return false;
  if (experiment.conditions.size() < 2 || experiment.condition_axis == ConditionAxis::Names ||
      std::ranges::any_of(experiment.conditions,
                          [](const ExperimentCondition& each) { return each.at && *each.at <= 0; }))
    throw json.unexpected("true only where two conditions or more have places above zero on a line");
  if (experiment.looks.empty()) throw json.unexpected("true only where there are looks");
  return true;
}

}  // namespace

std::string as_one_word(std::string name) {
  std::ranges::replace(name, ' ', '_');
  return name;
}

bool ExperimentText::makes(std::string_view tokens) const {
  if (kind != Kind::File) return tokens == stem();
  // As experiment_text.cpp names them: with the beginning of the file's SHA-256.
  const std::string begin = stem() + "-";
  return tokens.starts_with(begin) && tokens.size() == begin.size() + kContentDigits &&
         tokens.find_first_not_of("0123456789abcdef", begin.size()) == std::string_view::npos;
}

std::string ExperimentText::stem() const {
  const std::string tokens = (vocabulary == 0 ? "" : fmt::format("-v{}", vocabulary)) +
                             (pieces ? fmt::format("-pieces{}", *pieces) : "");
  switch (kind) {
    case Kind::Backcopy:
      return fmt::format("backcopy-{}-{}{}", seed, documents,
                         start == BackcopyStart::Letter ? "-letter" : "");
    case Kind::Synth:
      return fmt::format("synth-{}-{}{}", seed, bytes, tokens);
    case Kind::File:
      break;
  }
  return std::filesystem::path(file).stem().string() + tokens;
}

Experiment read_experiment(const std::filesystem::path& file) {
  return read_experiment(Json::load(file), file);
}

Experiment read_experiment(const Json& json, const std::filesystem::path& file) {
  json.allow_keys({"question", "method",     "known_before", "limits",    "text",       "run",
                   "set",      "vary",       "variants",     "condition", "conditions", "condition_axis",
                   "seeds",    "first_seed", "looks",        "solved",    "course",     "runs",
                   "tuned_by", "breaking",   "equal_loss",   "slope",     "answer",     "changed_later"});
  Experiment experiment{
      .name = file.stem().string(),
      .file = file,
      .question = json.text("question"),
      .method = texts_of(json, "method"),
      .known_before = texts_of(json, "known_before"),
      .limits = texts_of(json, "limits"),
      .changed_later = texts_of(json, "changed_later"),
      .text = read_text(json.at("text")),
      .run = json.text("run"),
      .changes = read_changes(json),
      .seeds = static_cast<int>(json.integer("seeds", {.min = 1, .max = 1000})),
      .first_seed = static_cast<int>(json.integer_or("first_seed", 1, {.min = 1, .max = 1'000'000}))};
  read_grid(json, experiment);
  experiment.looks = read_looks(json.at("looks"), experiment.seeds);
  // Conditions may be there to choose from, with as many seeds as that takes: then nothing is compared.
  if (experiment.looks.empty() && experiment.seeds > 1 && experiment.conditions.empty() &&
      !json.contains("breaking"))
    throw json.at("looks").unexpected("at least one look, if there are seeds to compare");
  experiment.solved = json.optional_number("solved", {.min = 0, .max = 1});
  if (experiment.solved && experiment.text.kind != ExperimentText::Kind::Backcopy)
    throw json.at("solved").unexpected("none: only a backcopy text has copies to count");
  if (json.contains("runs")) experiment.runs = read_neighbour(json.at("runs"), file).stem().string();
  if (json.contains("tuned_by")) experiment.tuned_by = read_neighbour(json.at("tuned_by"), file);
  if (json.contains("breaking")) experiment.breaking = read_breaking(json.at("breaking"));
  experiment.course = json.boolean_or("course", false);
  if (json.contains("answer")) experiment.answer = read_answer(json.at("answer"), experiment.looks);
  if (json.contains("slope")) experiment.slope = read_slope(json.at("slope"), experiment);
  experiment.equal_loss = json.number_or("equal_loss", experiment.equal_loss, {.min = 0, .max = 10});
  return experiment;
}

}  // namespace sluice
