#include "sluice/model/conversion.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/base/atomic_directory.h"
#include "sluice/base/atomic_file.h"
#include "sluice/base/error.h"
#include "sluice/base/json.h"
#include "sluice/model/checkpoint_writer.h"
#include "sluice/model/config_writer.h"
#include "sluice/model/count.h"
#include "sluice/model/model_directory.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

struct Reason {
  bool refuses;
  const char* text;
};

bool has_controls(const ModelConfig& config) {
  return config.head_norm || config.head_silu || config.clip || config.sandwich_norm;
}

// Both packed layouts can hold this and nothing else: sigmoid(x · W) multiplies attention's output.
bool is_output_gate(const ModelConfig& config) {
  if (config.gates.size() != 1) return false;
  const GateSpec& gate = config.gates.front();
  GateSpec plain;
  plain.form.granularity = gate.form.granularity;
  const bool everywhere = gate.layers.empty() || static_cast<int64_t>(gate.layers.size()) == config.layers;
  return everywhere && gate.position == plain.position && gate.form == plain.form &&
         gate.input == plain.input;
}

void refuse(const std::string& where, std::string_view layout, std::initializer_list<Reason> reasons) {
  for (const Reason& reason : reasons) {
    if (!reason.refuses) continue;
    throw bad_input({.where = where,
                     .what = fmt::format("cannot be written in the layout {}", layout),
                     .hint = reason.text});
  }
}

constexpr const char* kOnlyOutputGate =
    "it holds one multiplying sigmoid gate on attention's output, in every layer";

void check_official(const ModelConfig& config, const std::string& where) {
  refuse(where, "official",
         {{!is_output_gate(config), kOnlyOutputGate},
          {config.rotary != config.head_dim, "its code turns all channels of a head"},
          {config.gates.front().bias != config.qkv_bias, "its gate has a bias if q_proj has one"},
          {config.qkv_bias != config.o_bias, "its projections have all a bias or none"},
          {has_controls(config), "it knows neither sandwich norm, norms or SiLU on heads, nor clipping"}});
}

void check_qwen3_next(const ModelConfig& config, const std::string& where) {
  refuse(where, "qwen3-next",
         {{!is_output_gate(config), kOnlyOutputGate},
          {config.gates.front().form.granularity == Granularity::Headwise, "its gate is elementwise"},
          {!config.qk_norm, "it norms queries and keys"},
          {config.gates.front().bias != config.qkv_bias, "its gate has a bias if q_proj has one"},
          {config.qkv_bias != config.o_bias, "its projections have all a bias or none"},
          {has_controls(config), "it knows neither sandwich norm, norms or SiLU on heads, nor clipping"}});
}

// Files of a model directory that say nothing of the weights.
constexpr std::array kCarriedFiles = {"tokenizer.json",
                                      "tokenizer_config.json",
                                      "vocab.json",
                                      "merges.txt",
                                      "special_tokens_map.json",
                                      "added_tokens.json",
                                      "generation_config.json",
                                      "chat_template.jinja"};

// Keys of config.json that the decoder has no use for, but others may.
constexpr std::array kCarriedKeys = {
    "bos_token_id",      "pad_token_id", "initializer_range",    "torch_dtype",         "dtype",
    "attention_dropout", "use_cache",    "output_router_logits", "router_aux_loss_coef"};

const char* torch_name(StoredType type) {
  return type == StoredType::F32 ? "float32" : type == StoredType::BF16 ? "bfloat16" : "float16";
}

std::string config_text(const ModelConfig& config, const Json& old, const Conversion& conversion) {
  nlohmann::ordered_json json = config_json(config);
  for (const char* key : kCarriedKeys) {
    if (old.contains(key)) json[key] = old.at(key).node();
  }
  if (conversion.dtype) json["torch_dtype"] = torch_name(*conversion.dtype);
  if (conversion.dtype && json.contains("dtype")) json["dtype"] = torch_name(*conversion.dtype);
  return json.dump(2) + "\n";
}

// x̂ · w and x̂ · (1 + w) are two ways to store the same norm.
Tensor restyled(MemoryPool& pool, const Tensor& norm, WeightStyle to) {
  const Tensor other = norm.copy(pool);
  const float shift = to == WeightStyle::OnePlus ? -1.0F : 1.0F;
  for (float& w : other.values<float>()) w += shift;
  return other;
}

// From here on a value rounds to infinity: halfway between the largest number of the type and what would
// follow.
float too_large_for(StoredType type) {
  return type == StoredType::F16 ? 65520.0F : 0x1.FFp127F;
}

void check_range(const Tensor& values, StoredType type, const NamedParameter& named) {
  if (type == StoredType::F32) return;
  const float too_large = too_large_for(type);
  for (const float value : values.values<float>()) {
    if (!std::isfinite(value) || std::abs(value) < too_large) continue;
    const bool half = type == StoredType::F16;
    throw bad_input({.where = named.parameter->name,
                     .what = fmt::format("cannot be written in {}", half ? "f16" : "bf16"),
                     .expected = half ? "values up to 65504" : "values up to 3.39e38",
                     .got = fmt::format("{}", value),
                     .hint = half ? "bf16 has the range of f32" : ""});
  }
}

class Converter {
 public:
  Converter(const Checkpoint& from, const Decoder& to, const Conversion& conversion)
      : from_(from), to_(to), conversion_(conversion) {}

  Tensor values(size_t parameter) {
    const Tensor values = from_.read(pool_, parameter, DType::F32);
    check_range(values, stored_type(parameter), to_.parameters()[parameter]);
    return changes_style(parameter) ? restyled(pool_, values, to_.config().norm_style) : values;
  }

  StoredType stored_type(size_t parameter) const {
    const StoredType kept = conversion_.dtype.value_or(from_.stored_type(parameter));
    // In 16 bits a small weight would lose what it has beside the one.
    return changes_style(parameter) ? StoredType::F32 : kept;
  }

  MemoryPool& pool() { return pool_; }

 private:
  bool changes_style(size_t parameter) const {
    return to_.parameters()[parameter].role == ParameterRole::Norm &&
           to_.config().norm_style != from_.config().norm_style;
  }

  const Checkpoint& from_;
  const Decoder& to_;
  const Conversion& conversion_;
  MemoryPool pool_;
};

void copy_files(const fs::path& in, const fs::path& out) {
  for (const char* name : kCarriedFiles) {
    std::error_code error;
    if (!fs::exists(in / name, error)) continue;
    const MappedFile file(in / name);
    write_file_atomically(out / name, file.bytes());
  }
}

}  // namespace

ModelConfig with_layout(const ModelConfig& config, GateLayout layout, const std::string& where) {
  if (config.gates.empty()) {
    if (layout == GateLayout::PackedPerHead) {
      throw bad_input({.where = where,
                       .what = "cannot be written in the layout qwen3-next",
                       .hint = "every attention layer of that family has a gate; this model has none"});
    }
    return config;
  }
  if (layout == GateLayout::PackedPerGroup) check_official(config, where);
  if (layout == GateLayout::PackedPerHead) check_qwen3_next(config, where);
  ModelConfig other = config;
  other.gate_layout = layout;
  if (is_packed(layout)) {
    // A packed gate is in every layer, and that family norms with 1 + w.
    other.gates.front().layers.clear();
    other.norm_style = layout == GateLayout::PackedPerHead ? WeightStyle::OnePlus : WeightStyle::Plain;
  }
  return other;
}

WrittenModel convert_model(const fs::path& path, const fs::path& out, const Conversion& conversion,
                           const JobControl& control) {
  const fs::path in = model_directory(path, control);
  const Checkpoint from(in, conversion.nonfinite, control);
  const ModelConfig& config = from.config();
  const Decoder to(conversion.layout ? with_layout(config, *conversion.layout, in.string()) : config);
  Converter converter(from, to, conversion);
  const ParameterSource source{
      .values =
          [&](size_t i) {
            control.stop_if_cancelled();
            return converter.values(i);
          },
      .stored_type = [&](size_t i) { return converter.stored_type(i); },
  };
  AtomicDirectory directory(out);
  copy_files(in, directory.path());
  write_file_atomically(directory.path() / "config.json",
                        config_text(to.config(), Json::load(in / "config.json"), conversion));
  write_model_tensors(directory.path(), checkpoint_tensors(to, converter.pool(), source));
  directory.commit();
  return {.out = out, .parameters = count_parameters(config).total()};
}

}  // namespace sluice
