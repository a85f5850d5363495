#include "sluice/serve/model_shelf.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/base/error.h"
#include "sluice/model/config_reader.h"
#include "sluice/model/count.h"
#include "sluice/model/gate_names.h"
#include "sluice/model/model_directory.h"
#include "sluice/serve/http_message.h"

namespace sluice::serve {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// Packed weights of a model of this size are a small part of any memory.
constexpr int64_t kSmallParameters = 200'000'000;

// The last `count` parts of a path.
std::string tail_of(const fs::path& path, int count) {
  std::vector<std::string> parts;
  for (const fs::path& part : path.lexically_normal())
    if (!part.empty() && part != "." && part != "/") parts.push_back(part.string());
  const size_t first = parts.size() - std::min<size_t>(parts.size(), static_cast<size_t>(count));
  return fmt::format("{}", fmt::join(std::span(parts).subspan(first), "/"));
}

bool has_tokenizer_file(const ShelvedModel& model, const ModelOptions& options) {
  if (model.loaded() != nullptr) return model.loaded()->has_tokenizer();
  std::error_code none;
  return !options.tokenizer.empty() || fs::exists(model_directory(model.path) / "tokenizer.json", none);
}

ordered_json gate_json(const GateSpec& gate, const ModelConfig& config) {
  std::vector<int64_t> layers;
  for (int64_t layer = 0; layer < config.layers; ++layer)
    if (gate.in_layer(layer)) layers.push_back(layer);
  const int64_t heads = config.sizes().gated_heads(gate.position);
  return {{"position", gate.position->name},
          {"tap", gate.position->tap.name},
          {"granularity", word_for(kGranularities, gate.form.granularity)},
          {"activation", word_for(kActivations, gate.form.activation)},
          {"mode", word_for(kModes, gate.form.mode)},
          {"sharing", word_for(kSharings, gate.form.sharing)},
          {"input", word_for(kInputs, gate.input)},
          {"heads", heads},
          {"width", config.sizes().score_count(gate) / heads},
          {"layers", std::move(layers)}};
}

}  // namespace

bool is_of_nursery(const ShelvedModel& model) {
  std::error_code none;
  const bool bytes = model.config->tokenizer == Tokenizer::bytes().fingerprint();
  return bytes && fs::absolute(model.path, none).string().find("nursery") != std::string::npos;
}

std::vector<std::string> distinct_names(const std::vector<fs::path>& paths) {
  std::vector<std::string> names;
  for (const fs::path& path : paths) {
    int parts = 1;
    const auto clashes = [&](const fs::path& other) {
      return &other != &path && tail_of(other, parts) == tail_of(path, parts);
    };
    constexpr int kMostParts = 32;
    while (parts < kMostParts && std::ranges::any_of(paths, clashes)) ++parts;
    std::string name = tail_of(path, parts == kMostParts ? 1 : parts);
    // The same path twice.
    for (int i = 2; std::ranges::find(names, name) != names.end(); ++i)
      name = fmt::format("{}-{}", tail_of(path, 1), i);
    names.push_back(std::move(name));
  }
  return names;
}

const ModelConfig& ShelvedModel::known_config() const {
  if (!config) throw HttpError(500, error, "model");
  return *config;
}

Packing ShelvedModel::packing() const {
  return count_parameters(known_config()).total() < kSmallParameters ? Packing::Keep : Packing::Once;
}

ModelShelf::ModelShelf(Engine& engine, const std::vector<fs::path>& paths, const ModelOptions& options)
    : engine_(engine), options_(options) {
  const std::vector<std::string> names = distinct_names(paths);
  for (size_t i = 0; i < paths.size(); ++i) {
    ShelvedModel& model = models_.emplace_back();
    model.id = names[i];
    model.path = paths[i];
    try {
      model.config = load_model_config(model.path);
    } catch (const Error& error) {
      model.error = error.what();
    }
  }
}

ShelvedModel& ModelShelf::find(const std::string& id) {
  const auto found = std::ranges::find(models_, id, &ShelvedModel::id);
  if (found != models_.end()) return *found;
  std::vector<std::string> ids;
  for (const ShelvedModel& model : models_) ids.push_back(model.id);
  throw HttpError(404, fmt::format("model: expected one of {}, got \"{:.80}\"", fmt::join(ids, ", "), id),
                  "model");
}

const LoadedModel& ModelShelf::load(ShelvedModel& model, const JobControl& control) {
  if (model.loaded() != nullptr) return *model.loaded();
  model.known_config();
  try {
    model.owned_ = std::make_unique<LoadedModel>(engine_, model.path, options_, control);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Interrupted) throw;
    throw HttpError(500, error.what(), "model");
  }
  model.loaded_ = model.owned_.get();
  return *model.owned_;
}

ordered_json to_json(const ShelvedModel& model, const ModelOptions& options) {
  ordered_json json = {{"id", model.id},
                       {"path", model.path.string()},
                       {"loaded", model.loaded() != nullptr},
                       {"error", model.error.empty() ? ordered_json() : ordered_json(model.error)}};
  if (!model.config) return json;
  const ModelConfig& config = *model.config;
  json["nursery"] = is_of_nursery(model);
  json["tokenizer"] = has_tokenizer_file(model, options);
  const uint32_t fingerprint =
      model.loaded() != nullptr ? model.loaded()->tokenizer_fingerprint() : config.tokenizer;
  json["tokenizer_fingerprint"] =
      fingerprint == 0 ? ordered_json() : ordered_json(fingerprint_text(fingerprint));
  json["parameters"] = count_parameters(config).total();
  json["layers"] = config.layers;
  json["heads"] = config.heads;
  json["kv_heads"] = config.kv_heads;
  json["head_dim"] = config.head_dim;
  json["hidden"] = config.hidden;
  json["feed_forward"] = config.feed_forward;
  json["vocabulary"] = config.vocabulary;
  json["positions"] = config.positions;
  json["end_of_text"] = config.end_of_text;
  json["dtype"] = weight_type_name(options.dtype);
  json["gates"] = ordered_json::array();
  for (const GateSpec& gate : config.gates) json["gates"].push_back(gate_json(gate, config));
  return json;
}

}  // namespace sluice::serve
