#include "sluice/text/tokenizer.h"

#include <fmt/format.h>

#include <numeric>

#include "sluice/base/error.h"
#include "sluice/text/byte_alphabet.h"
#include "sluice/text/encoder.h"
#include "sluice/text/tokenizer_parts.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

fs::path file_at(const fs::path& path) {
  std::error_code unknown;  // what cannot be looked at is opened, which says why
  if (!fs::is_directory(path, unknown)) return path;
  const fs::path file = path / "tokenizer.json";
  if (fs::exists(file, unknown) || unknown) return file;
  throw bad_input({.where = path.string(),
                   .what = "no tokenizer.json in it",
                   .hint = "name one, or \"bytes\" if its tokens are bytes"});
}

}  // namespace

struct Tokenizer::State {
  explicit State(TokenizerParts parts) : encoder(std::move(parts)) {
    is_special.resize(static_cast<std::size_t>(vocabulary().size()));
    for (const AddedToken& token : encoder.parts().added) {
      is_special[static_cast<std::size_t>(token.id)] = token.special;
    }
  }

  const Vocabulary& vocabulary() const { return encoder.parts().vocabulary; }

  // Throws for an id that is none.
  TokenId checked(TokenId id) const {
    if (id >= 0 && id < vocabulary().size()) return id;
    throw bad_input({.where = "token id",
                     .expected = fmt::format("integer from 0 to {}", vocabulary().size() - 1),
                     .got = std::to_string(id)});
  }

  Encoder encoder;
  std::vector<bool> is_special;
};

Tokenizer::Tokenizer(TokenizerParts parts) : state_(std::make_shared<const State>(std::move(parts))) {}

Tokenizer Tokenizer::read(const Json& json) {
  return Tokenizer(read_tokenizer(json));
}

Tokenizer Tokenizer::load(const fs::path& path) {
  return read(Json::load(file_at(path)));
}

Tokenizer Tokenizer::named(const std::string& name) {
  return name == "bytes" ? bytes() : load(name);
}

Tokenizer Tokenizer::bytes() {
  std::vector<std::string> spellings;
  for (int byte = 0; byte < 256; ++byte)
    spellings.push_back(spelled(std::string(1, static_cast<char>(byte))));
  return Tokenizer(TokenizerParts{.vocabulary = Vocabulary(std::move(spellings)),
                                  .model_size = 256,
                                  .merges = MergeTable(),
                                  .pre_tokenizer = {},
                                  .added = {}});
}

std::vector<TokenId> Tokenizer::encode(std::string_view text) const {
  return state_->encoder.encode(text);
}

std::string Tokenizer::decode(std::span<const TokenId> ids, SpecialTokens special) const {
  std::string text;
  for (const TokenId id : ids) {
    state_->checked(id);
    if (special == SpecialTokens::Keep || !is_special(id)) text += state_->vocabulary().bytes(id);
  }
  return text;
}

TokenId Tokenizer::size() const {
  return state_->vocabulary().size();
}

std::optional<TokenId> Tokenizer::token_to_id(std::string_view spelling) const {
  return state_->vocabulary().find(spelling);
}

const std::string& Tokenizer::id_to_token(TokenId id) const {
  return state_->vocabulary().spelling(state_->checked(id));
}

bool Tokenizer::is_special(TokenId id) const {
  return state_->is_special[static_cast<std::size_t>(state_->checked(id))];
}

uint32_t Tokenizer::fingerprint() const {
  return fingerprint_of(state_->encoder.parts());
}

std::string fingerprint_text(uint32_t fingerprint) {
  return fmt::format("{:08x}", fingerprint);
}

std::vector<TokenId> Tokenizer::special_ids() const {
  std::vector<TokenId> ids(static_cast<std::size_t>(size()));
  std::iota(ids.begin(), ids.end(), 0);
  std::erase_if(ids, [&](TokenId id) { return !is_special(id); });
  return ids;
}

}  // namespace sluice
