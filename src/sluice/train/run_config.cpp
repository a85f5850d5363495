#include "sluice/train/run_config.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sluice/base/error.h"
#include "sluice/model/config_keys.h"
#include "sluice/model/config_reader.h"
#include "sluice/model/config_writer.h"
#include "sluice/train/run_presets.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

constexpr IntegerRange kRunCount{.min = 1, .max = int64_t{1} << 30};  // products of two fit 63 bits
constexpr Choice<ScheduleKind> kSchedules[] = {{"cosine", ScheduleKind::Cosine},
                                               {"linear", ScheduleKind::Linear},
                                               {"constant", ScheduleKind::Constant},
                                               {"warmup_stable_decay", ScheduleKind::WarmupStableDecay}};
constexpr Choice<SplitRule> kSplitRules[] = {
    {"auto", SplitRule::Auto}, {"documents", SplitRule::Documents}, {"position", SplitRule::Position}};
constexpr Choice<BalanceOver> kBalanceOver[] = {{"step", BalanceOver::Step}, {"pass", BalanceOver::Pass}};
constexpr Choice<Precision> kPrecisions[] = {{"bf16", Precision::Bf16}, {"f32", Precision::F32}};

// A preset goes before a path: what a configuration means must not depend on the directories beside it, among
// which there may be a run of that name.
Json model_named(const std::string& name) {
  for (const Preset& preset : presets())
    if (name == preset.name) return Json::parse(preset.text, fmt::format("preset {}", name));
  return load_model_json(name);
}

// A model that is written out here was written for this run: an unknown key is a mistake in it, not something
// that another program left behind.
ModelConfig read_model(const Json& json) {
  if (json.is_text()) return read_model_config(model_named(json.text()));
  check_config_keys(json);  // names the key that was most likely meant
  for (const std::string& key : unknown_config_keys(json))
    throw bad_input(
        {.where = json.at(key).where(), .what = "unknown key", .hint = "sluice help models lists them"});
  return read_model_config(json);
}

Schedule read_schedule(const Json& json, int64_t steps) {
  Schedule schedule{.steps = steps};
  if (!json.contains("schedule")) return schedule;
  const Json object = json.at("schedule");
  object.allow_keys({"kind", "peak", "final_share", "warmup", "decay_share"});
  schedule.kind = object.choice_or("kind", schedule.kind, kSchedules);
  schedule.peak = object.number_or("peak", schedule.peak, {.min = 0.0, .max = 10.0});
  schedule.final_share = object.number_or("final_share", schedule.final_share, {.min = 0.0, .max = 1.0});
  schedule.warmup = object.integer_or("warmup", schedule.warmup, {.min = 0});
  // Not cut down silently: a run that never gets to its peak is not the one that was asked for.
  if (schedule.warmup > steps) {
    throw object.at("warmup").unexpected(
        fmt::format("at most {}, the steps of the run", steps),
        fmt::format("a shorter run needs a shorter warm-up: --set schedule.warmup={}", steps / 10));
  }
  schedule.decay_share = object.number_or("decay_share", schedule.decay_share, {.min = 0.0, .max = 1.0});
  return schedule;
}

AdamWOptions read_optimizer(const Json& json) {
  AdamWOptions options;
  if (!json.contains("optimizer")) return options;
  const Json object = json.at("optimizer");
  object.allow_keys({"beta1", "beta2", "eps", "weight_decay", "max_norm"});
  options.beta1 = object.number_or("beta1", options.beta1, {.min = 0.0, .max = 0.9999});
  options.beta2 = object.number_or("beta2", options.beta2, {.min = 0.0, .max = 0.999999});
  options.eps = object.number_or("eps", options.eps, {.min = 1e-20, .max = 1.0});
  options.weight_decay = object.number_or("weight_decay", options.weight_decay, {.min = 0.0, .max = 10.0});
  options.max_norm = object.number_or("max_norm", options.max_norm, {.min = 0.0});
  return options;
}

RouterOptions read_routers(const Json& json, const ModelConfig& model) {
  constexpr NumberRange kCoefficient{.min = 0.0, .max = 100.0};
  RouterOptions options;
  if (!json.contains("routers")) return options;
  const Json object = json.at("routers");
  if (!model.moe) throw object.unexpected("no such key", "the model has no experts");
  object.allow_keys({"balance", "z", "over"});
  options.balance = object.number_or("balance", options.balance, kCoefficient);
  options.z = object.number_or("z", options.z, kCoefficient);
  options.over = object.choice_or("over", options.over, kBalanceOver);
  return options;
}

Initialisation read_initialisation(const Json& json, const ModelConfig& model) {
  constexpr NumberRange kStd{.min = 0.0, .max = 100.0};
  Initialisation init;
  if (!json.contains("init")) return init;
  const Json object = json.at("init");
  object.allow_keys({"std", "gain", "embedding", "output", "residual_by_depth", "attention_output"});
  init.gain = object.optional_number("gain", kStd);
  init.std = object.number_or("std", init.std, kStd);
  init.embedding = object.optional_number("embedding", kStd);
  init.output = object.optional_number("output", kStd);
  if (init.output && model.tied)
    throw object.at("output").unexpected("none", "the output of this model is its embedding: init.embedding");
  init.residual_by_depth = object.boolean_or("residual_by_depth", init.residual_by_depth);
  init.attention_output = object.number_or("attention_output", init.attention_output, kStd);
  return init;
}

ordered_json or_null(const std::optional<double>& value) {
  return value ? ordered_json(*value) : nullptr;
}

ordered_json routers_json(const RouterOptions& options) {
  return {{"balance", options.balance}, {"z", options.z}, {"over", word_for(kBalanceOver, options.over)}};
}

void read_validation(const Json& json, RunConfig& config) {
  if (!json.contains("validation")) return;
  const Json object = json.at("validation");
  object.allow_keys({"share", "every", "sequences", "split", "seed"});
  config.validation.share = object.number_or("share", config.validation.share, {.min = 0.0, .max = 0.9});
  config.validation.every = object.integer_or("every", config.validation.every, kRunCount);
  config.validation.sequences = object.integer_or("sequences", config.validation.sequences, kRunCount);
  config.validation.split = object.choice_or("split", config.validation.split, kSplitRules);
  config.validation.seed = static_cast<uint64_t>(object.integer_or("seed", 0, {.min = 0}));
}

void read_checkpoints(const Json& json, RunConfig& config) {
  if (!json.contains("checkpoints")) return;
  const Json object = json.at("checkpoints");
  object.allow_keys({"every", "keep", "file_bytes"});
  config.checkpoints.every = object.integer_or("every", config.checkpoints.every, kRunCount);
  config.checkpoints.keep = object.integer_or("keep", config.checkpoints.keep, {.min = 1, .max = 1000});
  config.checkpoints.file_bytes = object.integer_or("file_bytes", config.checkpoints.file_bytes, {.min = 1});
}

void read_stop(const Json& json, RunConfig& config) {
  if (!json.contains("stop")) return;
  const Json object = json.at("stop");
  object.allow_keys({"minutes", "patience"});
  config.stop.minutes = object.number_or("minutes", config.stop.minutes, {.min = 0.0, .max = 1e6});
  config.stop.patience = object.integer_or("patience", config.stop.patience, {.min = 0, .max = 1 << 20});
  if (config.stop.patience > 0 && config.validation.share == 0)
    throw object.at("patience").unexpected("0 for a run without validation");
}

void read_sample(const Json& json, RunConfig& config) {
  if (!json.contains("sample")) return;
  const Json object = json.at("sample");
  object.allow_keys({"prompt", "tokens"});
  config.sample.prompt = object.text_or("prompt", config.sample.prompt);
  config.sample.tokens = object.integer_or("tokens", config.sample.tokens, {.min = 1, .max = 1 << 16});
}

// A run's length is given in updates or in tokens.
int64_t read_steps(const Json& json, int64_t batch_tokens) {
  if (!json.contains("tokens")) return json.integer("steps", kRunCount);
  if (json.contains("steps")) throw json.at("tokens").unexpected("only one of steps and tokens");
  const int64_t tokens = json.integer("tokens", {.min = 1, .max = int64_t{1} << 50});
  const int64_t steps = (tokens + batch_tokens - 1) / batch_tokens;
  if (steps > kRunCount.max)
    throw json.at("tokens").unexpected(fmt::format("at most {} updates", kRunCount.max));
  return steps;
}

void read_sizes(const Json& json, RunConfig& config) {
  config.sequence = json.integer_or("sequence", config.sequence, {.min = 2, .max = 1 << 20});
  config.batch_tokens = json.integer_or("batch_tokens", config.batch_tokens, kRunCount);
  config.pass_tokens = json.integer_or("pass_tokens", config.batch_tokens, kRunCount);
  if (config.batch_tokens % config.sequence != 0) {
    throw json.at(json.contains("batch_tokens") ? "batch_tokens" : "sequence")
        .unexpected(fmt::format("a multiple of the sequence length, {}", config.sequence));
  }
  if (config.pass_tokens % config.sequence != 0 || config.batch_tokens % config.pass_tokens != 0) {
    throw json.at("pass_tokens")
        .unexpected(fmt::format("a multiple of {} that divides batch_tokens", config.sequence));
  }
}

// Puts `value` at the dotted path, making objects on the way.
void change(nlohmann::json& root, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw usage_error({.where = "--set", .expected = "a.b=value", .got = fmt::format("\"{}\"", text)});
  }
  nlohmann::json* node = &root;
  std::string_view path = std::string_view(text).substr(0, equals);
  while (true) {
    const std::string key(path.substr(0, path.find('.')));
    if (!node->is_object()) {
      throw usage_error({.where = fmt::format("--set {}", text), .what = "the path goes through a value"});
    }
    node = &(*node)[key];
    if (key.size() == path.size()) break;
    path.remove_prefix(key.size() + 1);
    if (node->is_null()) *node = nlohmann::json::object();
  }
  const std::string value = text.substr(equals + 1);
  nlohmann::json parsed = nlohmann::json::parse(value, nullptr, false);
  *node = parsed.is_discarded() ? nlohmann::json(value) : std::move(parsed);
}

// What a change of one value means for others.
void make_room(nlohmann::json& root, std::string_view change) {
  if (!root.is_object()) return;
  if (change.starts_with("tokens=")) root.erase("steps");
  if (change.starts_with("steps=")) root.erase("tokens");
  const auto model = root.find("model");
  if (change.starts_with("model.") && model != root.end() && model->is_string())
    *model = model_named(model->get<std::string>()).node();
}

}  // namespace

RunConfig read_run_config(const Json& json) {
  json.allow_keys({"model", "sequence", "batch_tokens", "pass_tokens", "steps", "tokens", "seed", "dtype",
                   "recompute", "init", "schedule", "optimizer", "routers", "validation", "checkpoints",
                   "stop", "sample"});
  RunConfig config;
  config.model = read_model(json.at("model"));
  read_sizes(json, config);
  config.seed = static_cast<uint64_t>(json.integer_or("seed", 0, {.min = 0}));
  config.init = read_initialisation(json, config.model);
  config.trainer.schedule = read_schedule(json, read_steps(json, config.batch_tokens));
  config.trainer.optimizer = read_optimizer(json);
  config.trainer.routers = read_routers(json, config.model);
  config.trainer.precision = json.choice_or("dtype", config.trainer.precision, kPrecisions);
  config.trainer.activations =
      json.boolean_or("recompute", false) ? Activations::Recompute : Activations::Keep;
  read_validation(json, config);
  read_checkpoints(json, config);
  read_stop(json, config);
  read_sample(json, config);
  if (config.sequence > config.model.positions) {
    throw json.at(json.contains("sequence") ? "sequence" : "model")
        .unexpected(
            fmt::format("at most {} tokens, max_position_embeddings of the model", config.model.positions));
  }
  return config;
}

nlohmann::ordered_json run_config_json(const RunConfig& config) {
  const Schedule& schedule = config.trainer.schedule;
  const AdamWOptions& optimizer = config.trainer.optimizer;
  ordered_json json = {{"model", config_json(config.model)},
                       {"sequence", config.sequence},
                       {"batch_tokens", config.batch_tokens},
                       {"pass_tokens", config.pass_tokens},
                       {"steps", schedule.steps},
                       {"seed", config.seed},
                       {"dtype", word_for(kPrecisions, config.trainer.precision)},
                       {"recompute", config.trainer.activations == Activations::Recompute},
                       {"init",
                        {{"std", config.init.std},
                         {"gain", or_null(config.init.gain)},
                         {"embedding", or_null(config.init.embedding)},
                         {"output", or_null(config.init.output)},
                         {"residual_by_depth", config.init.residual_by_depth},
                         {"attention_output", config.init.attention_output}}},
                       {"schedule",
                        {{"kind", word_for(kSchedules, schedule.kind)},
                         {"peak", schedule.peak},
                         {"final_share", schedule.final_share},
                         {"warmup", schedule.warmup},
                         {"decay_share", schedule.decay_share}}},
                       {"optimizer",
                        {{"beta1", optimizer.beta1},
                         {"beta2", optimizer.beta2},
                         {"eps", optimizer.eps},
                         {"weight_decay", optimizer.weight_decay},
                         {"max_norm", optimizer.max_norm}}},
                       {"validation",
                        {{"share", config.validation.share},
                         {"every", config.validation.every},
                         {"sequences", config.validation.sequences},
                         {"split", word_for(kSplitRules, config.validation.split)},
                         {"seed", config.validation.seed}}},
                       {"checkpoints",
                        {{"every", config.checkpoints.every},
                         {"keep", config.checkpoints.keep},
                         {"file_bytes", config.checkpoints.file_bytes}}},
                       {"stop", {{"minutes", config.stop.minutes}, {"patience", config.stop.patience}}},
                       {"sample", {{"prompt", config.sample.prompt}, {"tokens", config.sample.tokens}}}};
  if (config.model.moe) json["routers"] = routers_json(config.trainer.routers);
  return json;
}

RunConfig read_run_config(const Json& json, const std::vector<std::string>& changes) {
  if (changes.empty()) return read_run_config(json);
  nlohmann::json changed = json.node();
  for (const std::string& text : changes) {
    make_room(changed, text);
    change(changed, text);
  }
  return read_run_config(Json::parse(changed.dump(), json.where() + " with --set"));
}

RunConfig load_run_config(const std::string& path, const std::vector<std::string>& changes) {
  return read_run_config(load_file_or_preset(path, run_presets()), changes);
}

}  // namespace sluice
