// A small tokenizer.json as a tree that tests change: the 256 bytes (id = byte) and a few merges.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sluice/text/byte_alphabet.h"
#include "sluice/text/tokenizer.h"

namespace sluice::test {

using SpelledMerges = std::vector<std::pair<std::string, std::string>>;

// Each merge adds its token; the first one has id 256.
inline nlohmann::json small_file(const SpelledMerges& merges = {}) {
  const nlohmann::json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  nlohmann::json vocab, list = nlohmann::json::array();
  for (int byte = 0; byte < 256; ++byte) vocab[spelled(std::string(1, static_cast<char>(byte)))] = byte;
  for (const auto& [left, right] : merges) {
    vocab.emplace(left + right, vocab.size());
    list.push_back(left + " " + right);
  }
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", nlohmann::json::array()},
          {"normalizer", nullptr},
          {"pre_tokenizer", byte_level},
          {"post_processor", byte_level},
          {"decoder", byte_level},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", list}}}};
}

inline nlohmann::json split(const std::string& regex) {
  return {{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}, {"invert", false}};
}

// Splits before the byte level.
inline nlohmann::json with_splits(nlohmann::json file, const std::vector<nlohmann::json>& splits) {
  nlohmann::json steps = splits;
  steps.push_back(file["pre_tokenizer"]);
  file["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", steps}};
  return file;
}

inline nlohmann::json added_token(int id, const std::string& content) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", true}};
}

inline nlohmann::json with_added(nlohmann::json file, const std::vector<nlohmann::json>& tokens) {
  file["added_tokens"] = tokens;
  return file;
}

inline Tokenizer read(const nlohmann::json& file) {
  return Tokenizer::read(Json::parse(file.dump(), "t.json"));
}

// The tokens of a text as the file spells them, with | between.
inline std::string tokens(const Tokenizer& tokenizer, std::string_view text) {
  std::string joined;
  for (const TokenId id : tokenizer.encode(text)) {
    joined += (joined.empty() ? "" : "|") + tokenizer.id_to_token(id);
  }
  return joined;
}

inline std::string tokens(const nlohmann::json& file, std::string_view text) {
  return tokens(read(file), text);
}

}  // namespace sluice::test
