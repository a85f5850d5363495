// A tokenizer's content as one number.
#include <string>

#include "sluice/base/crc32c.h"
#include "sluice/text/tokenizer_parts.h"

namespace sluice {
namespace {

// Everything one after the other; texts with their lengths, so that no two contents give the same bytes.
class Content {
 public:
  void add(int64_t number) {
    for (int byte = 0; byte < 8; ++byte) bytes_ += static_cast<char>(number >> (8 * byte) & 0xFF);
  }

  void add(const std::string& text) {
    add(std::ssize(text));
    bytes_ += text;
  }

  void add(const Pattern& pattern) {
    add(static_cast<int64_t>(pattern.kind()));
    add(pattern.text());
  }

  void add(const AddedToken& token) {
    add(token.id);
    add(token.content);
    for (const bool flag :
         {token.special, token.normalized, token.single_word, token.strip_left, token.strip_right})
      add(int64_t{flag});
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Without merges every byte is its own token, wherever the text is cut: the byte tokenizer is the same with
// any pattern.
bool words_matter(const TokenizerParts& parts) {
  return !parts.merges.empty() || parts.ignore_merges || parts.pre_tokenizer.prefix_space;
}

void add_words(const PreTokenizer& words, Content& content) {
  content.add(std::ssize(words.splits));
  for (const Pattern& split : words.splits) content.add(split);
  content.add(int64_t{words.prefix_space});
  content.add(int64_t{words.final_split.has_value()});
  if (words.final_split) content.add(*words.final_split);
}

}  // namespace

uint32_t fingerprint_of(const TokenizerParts& parts) {
  Content content;
  content.add(parts.vocabulary.size());
  for (TokenId id = 0; id < parts.vocabulary.size(); ++id) content.add(parts.vocabulary.spelling(id));
  content.add(parts.model_size);
  for (const auto& [left, right, merge] : parts.merges.by_rank()) {
    for (const TokenId id : {left, right, merge.token}) content.add(id);
  }
  content.add(int64_t{parts.ignore_merges});
  content.add(static_cast<int64_t>(parts.normalization));
  for (const AddedToken& token : parts.added) content.add(token);
  if (words_matter(parts)) add_words(parts.pre_tokenizer, content);
  const uint32_t sum = crc32c(content.bytes());
  return sum == 0 ? 1 : sum;
}

}  // namespace sluice
