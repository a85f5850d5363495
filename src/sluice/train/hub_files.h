// The files beside the weights of a checkpoint, as the transformers library expects them: what the model is,
// what its tokens stand for, and where a text ends.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "sluice/model/config.h"

namespace sluice {

using HubFiles = std::map<std::string, std::string>;  // name, content

// config.json and, if it names a token that begins or ends texts, generation_config.json. With a
// tokenizer.json (an empty path: none) its copy, tokenizer_config.json and special_tokens_map.json.
HubFiles hub_files(const ModelConfig& config, const std::filesystem::path& tokenizer);

}  // namespace sluice
