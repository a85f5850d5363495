#include "sluice/text/vocabulary.h"

#include "sluice/base/assert.h"
#include "sluice/text/byte_alphabet.h"

namespace sluice {

Vocabulary::Vocabulary(std::vector<std::string> spellings) : spellings_(std::move(spellings)) {
  ids_.reserve(spellings_.size());
  bytes_.reserve(spellings_.size());
  single_bytes_.fill(-1);
  for (TokenId id = 0; id < size(); ++id) {
    const bool is_new = ids_.emplace(spelling(id), id).second;
    SLUICE_ASSERT(is_new, "Vocabulary: token {} is spelt like another one", id);
    // A token that is not spelt in bytes stands for its own text, as in the reference.
    std::optional<std::string> bytes = bytes_of_spelling(spelling(id));
    if (bytes && bytes->size() == 1) single_bytes_[static_cast<unsigned char>(bytes->front())] = id;
    bytes_.push_back(bytes ? std::move(*bytes) : spelling(id));
  }
}

std::optional<TokenId> Vocabulary::find(std::string_view spelling) const {
  const auto found = ids_.find(spelling);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace sluice
