// Tokens and merges. They are hundreds of thousands, so they are read from the nodes; paths are made only
// for errors.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "sluice/text/tokenizer_vocabulary_reader.h"

namespace sluice {
namespace {

// Larger than any published vocabulary; ids and ranks stay far from the end of 32 bits.
constexpr std::size_t kMaxTokens = std::size_t{1} << 24;

void check_size(const Json& json, std::size_t size) {
  if (size > kMaxTokens) throw json.unexpected(fmt::format("at most {} entries", kMaxTokens));
}

struct Pair {
  std::string left, right;
};

// "a b" or ["a", "b"].
Pair read_pair(const Json& merges, std::size_t index) {
  const nlohmann::json& node = merges.node()[index];
  if (node.is_array() && node.size() == 2 && node[0].is_string() && node[1].is_string()) {
    return {node[0].get<std::string>(), node[1].get<std::string>()};
  }
  if (node.is_string()) {
    const std::string text = node.get<std::string>();
    const auto space = text.find(' ');
    if (space != std::string::npos && text.find(' ', space + 1) == std::string::npos) {
      return {text.substr(0, space), text.substr(space + 1)};
    }
  }
  throw merges.at(index).unexpected("two tokens: \"a b\" or [\"a\", \"b\"]");
}

AddedToken read_added_token(const Json& json) {
  json.allow_keys({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
  const bool special = json.boolean_or("special", false);
  AddedToken token{.id = static_cast<TokenId>(json.integer("id", {.min = 0, .max = kMaxTokens})),
                   .content = json.text("content"),
                   .special = special,
                   .normalized = json.boolean_or("normalized", !special),
                   .single_word = json.boolean_or("single_word", false),
                   .strip_left = json.boolean_or("lstrip", false),
                   .strip_right = json.boolean_or("rstrip", false)};
  if (token.content.empty()) throw json.at("content").unexpected("text");
  return token;
}

}  // namespace

std::vector<std::string> read_vocabulary(const Json& model) {
  const Json vocab = model.at("vocab");
  if (!vocab.is_object()) throw vocab.unexpected("object");
  const nlohmann::json& node = vocab.node();
  check_size(vocab, node.size());
  std::vector<std::string> spellings(node.size());
  std::vector<bool> seen(node.size());
  for (const auto& [spelling, value] : node.items()) {
    const auto id = value.is_number_integer() ? value.get<std::int64_t>() : -1;
    if (id < 0 || id >= static_cast<std::int64_t>(node.size())) {
      throw vocab.at(spelling).unexpected(fmt::format("integer from 0 to {}", node.size() - 1),
                                          "ids have no gaps");
    }
    const auto at = static_cast<std::size_t>(id);
    if (seen[at]) throw vocab.at(spelling).unexpected("an id of its own", "another token has it");
    seen[at] = true;
    spellings[at] = spelling;
  }
  return spellings;
}

MergeTable read_merges(const Json& model, const Vocabulary& vocabulary) {
  const Json merges = model.at("merges");
  if (!merges.is_array()) throw merges.unexpected("array");
  const std::size_t count = merges.node().size();
  check_size(merges, count);
  MergeTable table(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Pair pair = read_pair(merges, i);
    const auto id_of = [&](const std::string& spelling) {
      const std::optional<TokenId> id = vocabulary.find(spelling);
      if (!id) throw merges.at(i).unexpected("tokens of the vocabulary that join to one of it");
      return *id;
    };
    const TokenId left = id_of(pair.left), right = id_of(pair.right);
    // As in the reference, the last merge of a pair counts.
    table.set(left, right, {static_cast<std::int32_t>(i), id_of(pair.left + pair.right)});
  }
  return table;
}

std::vector<AddedToken> read_added_tokens(const Json& file, std::vector<std::string>& spellings) {
  std::vector<AddedToken> tokens;
  if (!file.contains("added_tokens")) return tokens;
  std::unordered_map<std::string, TokenId> known;
  for (std::size_t id = 0; id < spellings.size(); ++id)
    known.emplace(spellings[id], static_cast<TokenId>(id));
  const Json added = file.at("added_tokens");
  if (!added.is_array()) throw added.unexpected("array");
  check_size(added, added.node().size());
  std::vector<bool> seen;
  for (std::size_t i = 0; i < added.node().size(); ++i) {
    const Json json = added.at(i);
    AddedToken token = read_added_token(json);
    // The reference numbers tokens by itself: the model's own as there, others from its end on.
    const auto [place, is_new] = known.emplace(token.content, static_cast<TokenId>(spellings.size()));
    if (is_new) spellings.push_back(token.content);
    if (token.id != place->second) throw json.at("id").unexpected(std::to_string(place->second));
    seen.resize(spellings.size());
    if (seen[static_cast<std::size_t>(token.id)]) throw json.unexpected("a token that was not added before");
    seen[static_cast<std::size_t>(token.id)] = true;
    tokens.push_back(std::move(token));
  }
  return tokens;
}

}  // namespace sluice
