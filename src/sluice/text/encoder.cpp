#include "sluice/text/encoder.h"

#include "sluice/text/byte_alphabet.h"
#include "sluice/text/nfc.h"

namespace sluice {
namespace {

std::vector<AddedToken> tokens_of_raw_text(const TokenizerParts& parts) {
  std::vector<AddedToken> tokens = parts.added;
  std::erase_if(tokens, [](const AddedToken& token) { return token.normalized; });
  return tokens;
}

std::vector<AddedToken> tokens_of_normalized_text(const TokenizerParts& parts) {
  std::vector<AddedToken> tokens = parts.added;
  std::erase_if(tokens, [](const AddedToken& token) { return !token.normalized; });
  if (parts.normalization == Normalization::Nfc) {
    for (AddedToken& token : tokens) token.content = to_nfc(token.content);
  }
  return tokens;
}

}  // namespace

Encoder::Encoder(TokenizerParts parts)
    : parts_(std::move(parts)),
      in_raw_text_(tokens_of_raw_text(parts_)),
      in_normalized_text_(tokens_of_normalized_text(parts_)) {}

std::vector<TokenId> Encoder::encode(std::string_view text) const {
  std::vector<TokenId> ids;
  ids.reserve(text.size() / 4);  // English has some four bytes per token
  std::unique_ptr<Workspace> workspace = take_workspace();
  const Call call{*workspace, ids};
  while (!text.empty()) {
    const std::size_t good = well_formed_length(text);
    if (good > 0) encode_well_formed(text.substr(0, good), call);
    text.remove_prefix(good);
    std::size_t bad = 0;
    while (bad < text.size()) {
      const Utf8Front front = utf8_front(text.substr(bad));
      if (front.form == Utf8Form::Complete) break;
      bad += front.length;
    }
    if (bad > 0) encode_word(text.substr(0, bad), call);
    text.remove_prefix(bad);
  }
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(workspace));
  return ids;
}

std::unique_ptr<Encoder::Workspace> Encoder::take_workspace() const {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Workspace> workspace = std::move(idle_.back());
      idle_.pop_back();
      return workspace;
    }
  }
  return std::make_unique<Workspace>();
}

void Encoder::encode_well_formed(std::string_view text, Call call) const {
  const auto on_token = [&](TokenId id) { call.ids.push_back(id); };
  const auto normalize = [&](std::string_view piece) {
    if (parts_.normalization == Normalization::None || is_surely_nfc(piece)) {
      return encode_normalized(piece, call);
    }
    encode_normalized(to_nfc(piece), call);
  };
  in_raw_text_.cut(text, normalize, on_token);
}

void Encoder::encode_normalized(std::string_view text, Call call) const {
  const auto on_token = [&](TokenId id) { call.ids.push_back(id); };
  const auto on_word = [&](std::string_view word) { encode_word(word, call); };
  const auto on_text = [&](std::string_view piece) {
    parts_.pre_tokenizer.cut(piece, call.workspace.scratch, on_word);
  };
  in_normalized_text_.cut(text, on_text, on_token);
}

void Encoder::encode_word(std::string_view word, Call call) const {
  Workspace& workspace = call.workspace;
  if (word.size() > WordCache::kLongestWord) {
    merge_word(word, workspace);
    call.ids.insert(call.ids.end(), workspace.word.begin(), workspace.word.end());
    return;
  }
  const WordCache::Key key = WordCache::key_of(word);
  std::span<const TokenId> tokens = workspace.cache.find(key);
  if (tokens.empty()) {
    merge_word(word, workspace);
    tokens = workspace.word;
    workspace.cache.keep(key, tokens);
  }
  call.ids.insert(call.ids.end(), tokens.begin(), tokens.end());
}

void Encoder::merge_word(std::string_view word, Workspace& workspace) const {
  workspace.word.clear();
  if (parts_.ignore_merges) {
    const std::optional<TokenId> id = parts_.vocabulary.find(spelled(word));
    if (id && *id < parts_.model_size) return workspace.word.push_back(*id);
  }
  const std::array<TokenId, 256>& single = parts_.vocabulary.single_bytes();
  for (const char byte : word) workspace.word.push_back(single[static_cast<unsigned char>(byte)]);
  workspace.merger.apply(parts_.merges, workspace.word);
}

}  // namespace sluice
