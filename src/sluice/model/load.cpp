#include "sluice/model/load.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "sluice/base/error.h"
#include "sluice/model/config_reader.h"
#include "sluice/model/gate_packing.h"

namespace sluice {
namespace {

constexpr std::string_view kGate = ".self_attn.gate_proj.";
constexpr std::string_view kQuery = ".self_attn.q_proj.";

bool is_packed(const ModelConfig& config) {
  return config.gate_layout == GateLayout::PackedPerGroup || config.gate_layout == GateLayout::PackedPerHead;
}

// Where a parameter's values lie in the file: a tensor, or rows of one.
struct Source {
  std::string name;
  Shape shape;
  std::vector<RowRange> rows = {};  // none: the whole tensor
};

Source source_of(const ModelConfig& config, const NamedParameter& named) {
  Source source{.name = named.parameter->name, .shape = named.shape};
  const size_t gate = source.name.find(kGate);
  const bool is_query = source.name.find(kQuery) != std::string::npos;
  if (!is_packed(config) || (gate == std::string::npos && !is_query)) return source;
  const PackedQuery packed = packed_query(config);
  source.rows = is_query ? packed.query : packed.gate;
  if (!is_query) source.name.replace(gate, kGate.size(), kQuery);
  source.shape = named.shape.rank() == 1 ? Shape{packed.rows} : Shape{packed.rows, named.shape.cols()};
  return source;
}

std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kShown = 6;
  const auto shown = std::span(names).first(std::min(kShown, names.size()));
  const std::string more = names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "";
  return fmt::format("{}{}", fmt::join(shown, ", "), more);
}

// Written by some tools although it follows from the rest.
bool is_redundant(const ModelConfig& config, const std::string& name) {
  return name.ends_with(".rotary_emb.inv_freq") || (config.tied && name == "lm_head.weight");
}

void compare_names(const std::string& where, const ModelConfig& config, const TensorStore& store,
                   const std::vector<Source>& sources) {
  std::set<std::string> expected;
  std::vector<std::string> missing, unexpected;
  for (const Source& source : sources) {
    if (expected.insert(source.name).second && !store.contains(source.name)) missing.push_back(source.name);
  }
  for (const std::string& name : store.names()) {
    if (!expected.contains(name) && !is_redundant(config, name)) unexpected.push_back(name);
  }
  if (!missing.empty()) throw bad_input({.where = where, .what = "missing tensors: " + listed(missing)});
  if (!unexpected.empty()) {
    throw bad_input({.where = where,
                     .what = "unexpected tensors: " + listed(unexpected),
                     .hint = "config.json describes another model than the file holds"});
  }
}

}  // namespace

std::unique_ptr<Decoder> load_model(Engine& engine, const std::filesystem::path& directory, DType dtype) {
  std::error_code unknown;
  if (!std::filesystem::is_directory(directory, unknown)) {
    throw bad_input({.where = directory.string(),
                     .what = "not a model directory",
                     .hint = "it holds config.json and model.safetensors"});
  }
  auto decoder = std::make_unique<Decoder>(load_model_config(directory));
  const TensorStore store(directory);
  std::vector<Source> sources;
  for (const NamedParameter& named : decoder->parameters())
    sources.push_back(source_of(decoder->config(), named));
  compare_names(directory.string(), decoder->config(), store, sources);
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto& [name, shape, rows] = sources[i];
    const DType kept = shape.rank() == 1 ? DType::F32 : dtype;
    decoder->parameters()[i].parameter->value =
        rows.empty() ? store.read(engine.pool(), name, shape, kept)
                     : store.read_rows(engine.pool(), {.name = name, .shape = shape, .dtype = kept}, rows);
  }
  return decoder;
}

}  // namespace sluice
