#include "sluice/model/rope_reader.h"

#include <fmt/format.h>

#include "sluice/model/rope_names.h"

namespace sluice {
namespace {

constexpr const char* kParameters = "rope_parameters";
constexpr NumberRange kFactors{.min = 1.0, .max = 1e6};
constexpr NumberRange kPositive{.min = 1e-6, .max = 1e6};
constexpr IntegerRange kOriginalPositions{.min = 2, .max = 1 << 24};

// A value that newer files have in rope_parameters and older ones beside it.
double number_in_either(const Json& json, const char* key, double fallback, NumberRange range) {
  const double beside = json.number_or(key, fallback, range);
  if (!json.contains(kParameters) || !json.at(kParameters).contains(key)) return beside;
  const double inside = json.at(kParameters).number(key, range);
  if (json.contains(key) && beside != inside)
    throw json.at(key).unexpected(fmt::format("{}, as in {}", inside, kParameters));
  return inside;
}

void check_rope_keys(const Json& object) {
  for (const auto& [key, value] : object.object())
    if (value.is_object())
      throw value.unexpected("one rotation for all layers", "rotations per kind of layer are not supported");
  object.allow_keys({"type", "rope_type", "rope_theta", "partial_rotary_factor", "factor",
                     "original_max_position_embeddings", "attention_factor", "beta_fast", "beta_slow",
                     "mscale", "mscale_all_dim", "truncate", "low_freq_factor", "high_freq_factor",
                     "short_factor", "long_factor", "finetuned"});  // a note
}

RopeScalingKind read_kind(const Json& object) {
  const RopeScalingKind older = object.choice_or("type", RopeScalingKind::None, kRopeKinds);
  const RopeScalingKind kind = object.choice_or("rope_type", older, kRopeKinds);
  if (object.contains("type") && kind != older)
    throw object.at("type").unexpected("the same as rope_type", "it is an older name of it");
  return kind;
}

std::vector<double> read_factors(const Json& object, const char* key, int64_t pairs) {
  std::vector<double> factors;
  for (const Json& factor : object.at(key).array()) factors.push_back(factor.number(kPositive));
  if (std::ssize(factors) == pairs) return factors;
  throw object.at(key).unexpected(fmt::format("{} numbers, one for each pair of rotary channels", pairs));
}

void read_yarn(const Json& object, RopeScaling& scaling) {
  scaling.beta_fast = object.number_or("beta_fast", scaling.beta_fast, kPositive);
  scaling.beta_slow = object.number_or("beta_slow", scaling.beta_slow, kPositive);
  scaling.mscale = object.optional_number("mscale", {.min = 0.0, .max = 1e6});
  scaling.mscale_all = object.optional_number("mscale_all_dim", {.min = 0.0, .max = 1e6});
  scaling.truncate = object.boolean_or("truncate", true);
}

void read_llama3(const Json& object, RopeScaling& scaling) {
  scaling.low_frequency = object.number("low_freq_factor", kPositive);
  scaling.high_frequency = object.number("high_freq_factor", kPositive);
  if (scaling.high_frequency <= scaling.low_frequency)
    throw object.at("high_freq_factor").unexpected("a number above low_freq_factor");
}

// Of `object`, which is rope_scaling or rope_parameters of `json`.
RopeScaling read_scaling(const Json& json, const Json& object, const ModelConfig& config) {
  check_rope_keys(object);
  RopeScaling scaling{.kind = read_kind(object)};
  if (scaling.kind == RopeScalingKind::None) return {};
  constexpr const char* kOriginal = "original_max_position_embeddings";
  scaling.original_positions =
      object.integer_or(kOriginal, json.integer_or(kOriginal, 0, kOriginalPositions), kOriginalPositions);
  const bool has_original = scaling.original_positions > 0;
  // The ratio of the two numbers of positions stands in for it.
  const bool needs_factor =
      scaling.kind != RopeScalingKind::LongRope && !(scaling.kind == RopeScalingKind::Yarn && has_original);
  scaling.factor = object.optional_number("factor", kFactors);
  if (needs_factor && !scaling.factor) scaling.factor = object.number("factor", kFactors);
  if (scaling.kind == RopeScalingKind::Yarn || scaling.kind == RopeScalingKind::LongRope)
    scaling.attention_factor = object.optional_number("attention_factor", {.min = 0.0, .max = 1e6});
  if (scaling.kind == RopeScalingKind::Yarn) read_yarn(object, scaling);
  if (scaling.kind == RopeScalingKind::Llama3) {
    if (!has_original) object.integer(kOriginal, kOriginalPositions);  // says that it is missing
    read_llama3(object, scaling);
  }
  if (scaling.kind == RopeScalingKind::LongRope) {
    scaling.short_factors = read_factors(object, "short_factor", config.rotary / 2);
    scaling.long_factors = read_factors(object, "long_factor", config.rotary / 2);
  }
  return scaling;
}

int64_t read_rotary(const Json& json, double family_share, int64_t head_dim) {
  constexpr const char* kShare = "partial_rotary_factor";
  const double share = number_in_either(json, kShare, family_share, {.min = 0.0, .max = 1.0});
  const auto rotary = static_cast<int64_t>(static_cast<double>(head_dim) * share);
  if (rotary % 2 == 0) return rotary;
  const bool inside = json.contains(kParameters) && json.at(kParameters).contains(kShare);
  const char* key = json.contains(kShare) ? kShare : json.contains("head_dim") ? "head_dim" : "hidden_size";
  throw(inside ? json.at(kParameters).at(kShare) : json.at(key))
      .unexpected("an even number of rotary channels per head", fmt::format("they come out as {}", rotary));
}

}  // namespace

void read_rope(const Json& json, double rotary_share, ModelConfig& config) {
  config.rope_base = number_in_either(json, "rope_theta", 10000.0, {.min = 1.0});
  config.rotary = read_rotary(json, rotary_share, config.head_dim);
  const auto scaling_in = [&](const char* key) {
    return json.contains(key) ? read_scaling(json, json.at(key), config) : RopeScaling{};
  };
  config.rope_scaling = scaling_in(json.contains(kParameters) ? kParameters : "rope_scaling");
  // It asks which pair turns how often; with a base of 1 all turn alike.
  if (config.rope_scaling.kind == RopeScalingKind::Yarn && config.rope_base == 1.0)
    throw bad_input({.where = json.where(), .what = "yarn needs a rope_theta above 1"});
  if (json.contains("rope_scaling") && scaling_in("rope_scaling") != config.rope_scaling)
    throw json.at("rope_scaling").unexpected(fmt::format("the same as in {}, or nothing", kParameters));
}

}  // namespace sluice
