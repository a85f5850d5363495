#include "sluice/text/tokenizer_writer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "sluice/base/error.h"
#include "sluice/text/byte_alphabet.h"

namespace sluice {
namespace {

using Object = nlohmann::ordered_json;

Object byte_level(bool trim_offsets, bool use_regex) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", trim_offsets},
          {"use_regex", use_regex}};
}

Object pre_tokenizer(WordPattern pattern) {
  if (pattern == WordPattern::Gpt2) return byte_level(true, true);
  const Object split = {{"type", "Split"},
                        {"pattern", {{"Regex", text_of(pattern)}}},
                        {"behavior", "Isolated"},
                        {"invert", false}};
  return {{"type", "Sequence"}, {"pretokenizers", Object::array({split, byte_level(false, false)})}};
}

Object added_tokens(const std::vector<std::string>& special, std::size_t first_id) {
  Object tokens = Object::array();
  for (const std::string& content : special) {
    tokens.push_back({{"id", first_id + tokens.size()},
                      {"content", content},
                      {"single_word", false},
                      {"lstrip", false},
                      {"rstrip", false},
                      {"normalized", false},
                      {"special", true}});
  }
  return tokens;
}

std::string quoted(const std::string& text) {
  return Object(text).dump();
}

// Written by hand: an ordered object looks through all its members for each new one.
std::string vocabulary_json(const TrainedBpe& trained) {
  std::string text;
  for (std::size_t id = 0; id < trained.tokens.size(); ++id) {
    text += (id == 0 ? "\n   " : ",\n   ") + quoted(spelled(trained.tokens[id])) + ": " + std::to_string(id);
  }
  return "{" + text + "\n  }";
}

// The older of the two formats, which all versions of the reference read. No token has a space in it.
std::string merges_json(const TrainedBpe& trained) {
  std::string text;
  for (const auto& [left, right] : trained.merges) {
    const auto token = [&](TokenId id) { return spelled(trained.tokens[static_cast<std::size_t>(id)]); };
    text += (text.empty() ? "\n   " : ",\n   ") + quoted(token(left) + " " + token(right));
  }
  return "[" + text + "\n  ]";
}

// The reference would take the model's token for the special one.
void check_special(const TrainedBpe& trained, const std::vector<std::string>& special) {
  const std::set<std::string> wanted(special.begin(), special.end());
  for (const std::string& token : trained.tokens) {
    if (!wanted.contains(spelled(token))) continue;
    throw bad_input({.where = "special token",
                     .what = fmt::format("\"{}\" is spelt like another token", spelled(token)),
                     .hint = "put it between signs, as in <|end|>"});
  }
}

}  // namespace

std::string tokenizer_json(const TrainedBpe& trained, WordPattern pattern,
                           const std::vector<std::string>& special) {
  check_special(trained, special);
  const Object normalizer = pattern == WordPattern::Qwen ? Object{{"type", "NFC"}} : Object(nullptr);
  const Object post_processor =
      pattern == WordPattern::Qwen ? byte_level(false, false) : byte_level(false, true);
  const Object file = {{"version", "1.0"},
                       {"truncation", nullptr},
                       {"padding", nullptr},
                       {"added_tokens", added_tokens(special, trained.tokens.size())},
                       {"normalizer", normalizer},
                       {"pre_tokenizer", pre_tokenizer(pattern)},
                       {"post_processor", post_processor},
                       {"decoder", byte_level(true, true)}};
  const Object model = {{"type", "BPE"},
                        {"dropout", nullptr},
                        {"unk_token", nullptr},
                        {"continuing_subword_prefix", ""},
                        {"end_of_word_suffix", ""},
                        {"fuse_unk", false},
                        {"byte_fallback", false},
                        {"ignore_merges", false}};
  std::string text = "{\n";
  for (const auto& [key, value] : file.items()) text += fmt::format(" {}: {},\n", quoted(key), value.dump());
  text += " \"model\": {\n";
  for (const auto& [key, value] : model.items())
    text += fmt::format("  {}: {},\n", quoted(key), value.dump());
  text += fmt::format("  \"vocab\": {},\n", vocabulary_json(trained));
  text += fmt::format("  \"merges\": {}\n }}\n}}\n", merges_json(trained));
  return text;
}

std::string byte_tokenizer_json() {
  TrainedBpe bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.tokens.emplace_back(1, static_cast<char>(byte));
  // Not Qwen's pattern: with it texts are normalised, and bytes would change.
  return tokenizer_json(bytes, WordPattern::Gpt2, {});
}

}  // namespace sluice
