#include "sluice/train/hub_files.h"

#include <nlohmann/json.hpp>

#include "sluice/base/file.h"
#include "sluice/model/config_writer.h"
#include "sluice/text/tokenizer.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

std::string file_text(const ordered_json& json) {
  return json.dump(2) + "\n";
}

// As the configuration says, or else known by name, since a tokenizer.json does not say what its special
// tokens are for.
std::optional<TokenId> begin_of_text_of(const ModelConfig& config, const Tokenizer& tokenizer) {
  if (const auto id = config.begin_of_text; id && *id >= 0 && *id < tokenizer.size())
    return static_cast<TokenId>(*id);
  for (const char* name : {"<|begin_of_text|>", "<s>", "<bos>", "<|bos|>", "<|startoftext|>"}) {
    const std::optional<TokenId> id = tokenizer.token_to_id(name);
    if (id && tokenizer.is_special(*id)) return id;
  }
  return {};
}

// Only special tokens are named: text never becomes one, while the byte 0, which ends documents for lack of
// them, is a token like others.
ordered_json token_names(const ModelConfig& config, const Tokenizer& tokenizer,
                         std::optional<TokenId> begin_of_text) {
  ordered_json names = ordered_json::object();
  if (begin_of_text) names["bos_token"] = tokenizer.id_to_token(*begin_of_text);
  for (const int64_t id : config.end_of_text) {
    if (id >= tokenizer.size() || !tokenizer.is_special(static_cast<TokenId>(id))) continue;
    names["eos_token"] = tokenizer.id_to_token(static_cast<TokenId>(id));
    break;
  }
  return names;
}

ordered_json tokenizer_config(const ModelConfig& config, const ordered_json& names) {
  ordered_json json = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                       {"model_max_length", config.positions},
                       {"clean_up_tokenization_spaces", false}};
  json.update(names);
  return json;
}

// The ids that both files have.
ordered_json generation_config(const ordered_json& model) {
  ordered_json json = ordered_json::object();
  for (const char* key : {"bos_token_id", "eos_token_id"}) {
    if (model.contains(key)) json[key] = model.at(key);
  }
  return json;
}

}  // namespace

HubFiles hub_files(const ModelConfig& config, const std::filesystem::path& tokenizer) {
  ordered_json model = config_json(config);
  HubFiles files;
  if (!tokenizer.empty()) {
    const Tokenizer loaded = Tokenizer::load(tokenizer);
    const std::optional<TokenId> begin_of_text = begin_of_text_of(config, loaded);
    if (begin_of_text) model["bos_token_id"] = *begin_of_text;
    const ordered_json names = token_names(config, loaded, begin_of_text);
    files["tokenizer.json"] = MappedFile(tokenizer).text();
    files["tokenizer_config.json"] = file_text(tokenizer_config(config, names));
    files["special_tokens_map.json"] = file_text(names);
  }
  files["config.json"] = file_text(model);
  const ordered_json generation = generation_config(model);
  if (!generation.empty()) files["generation_config.json"] = file_text(generation);
  return files;
}

}  // namespace sluice
