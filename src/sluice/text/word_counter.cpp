#include "sluice/text/word_counter.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/text/lines.h"
#include "sluice/text/nfc.h"

namespace sluice {
namespace {

// A constant: the pieces, and so the words, are the same for any number of threads.
constexpr std::size_t kPiece = std::size_t{1} << 20;

// Longer words are counted in parts. They are no language, and a merge has to walk through them.
constexpr std::size_t kLongestWord = 1024;

bool is_ascii_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Behind at least kPiece bytes, a place where every pattern ends a word: before a space after a letter or
// digit. In a text that has none, between characters.
std::size_t piece_length(std::string_view text) {
  constexpr std::size_t kPatience = kPiece / 4;
  if (text.size() <= kPiece + kPatience) return text.size();
  for (std::size_t at = kPiece; at < kPiece + kPatience; ++at) {
    if (text[at] == ' ' && is_ascii_alphanumeric(text[at - 1])) return at;
  }
  std::size_t at = kPiece;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  return at;
}

std::size_t lines_length(std::string_view text) {
  if (text.size() <= kPiece) return text.size();
  const auto newline = text.find('\n', kPiece);
  return newline == std::string_view::npos ? text.size() : newline + 1;
}

std::vector<std::string_view> pieces_of(std::string_view text, TextFormat format) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    pieces.push_back(
        text.substr(0, format == TextFormat::JsonLines ? lines_length(text) : piece_length(text)));
    text.remove_prefix(pieces.back().size());
  }
  return pieces;
}

std::vector<AddedToken> special_tokens(const std::vector<std::string>& contents) {
  std::vector<AddedToken> tokens;
  for (const std::string& content : contents) tokens.push_back({.content = content});
  return tokens;
}

PreTokenizer pre_tokenizer_of(WordPattern pattern) {
  PreTokenizer result;
  result.splits.push_back(Pattern({.text = text_of(pattern), .where = "pattern"}));
  return result;
}

// As the tokenizers do that have these patterns.
Normalization normalization_of(WordPattern pattern) {
  return pattern == WordPattern::Qwen ? Normalization::Nfc : Normalization::None;
}

std::size_t count_newlines(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

}  // namespace

WordCounter::WordCounter(Options options, const Threads& threads)
    : threads_(threads),
      normalization_(normalization_of(options.pattern)),
      pre_tokenizer_(pre_tokenizer_of(options.pattern)),
      special_(special_tokens(options.special)) {}

void WordCounter::add(std::string_view content, TextFormat format, const std::string& name) {
  const std::vector<std::string_view> pieces = pieces_of(content, format);
  threads_.each(static_cast<std::int64_t>(pieces.size()), [&](std::int64_t i) {
    const std::string_view piece = pieces[static_cast<std::size_t>(i)];
    Tally tally;
    if (format == TextFormat::JsonLines) {
      const std::string_view before(content.data(), static_cast<std::size_t>(piece.data() - content.data()));
      count_lines(piece, name, 1 + count_newlines(before), tally);
    } else {
      count_text(piece, tally);
    }
    const std::lock_guard lock(mutex_);
    for (const auto& [word, count] : tally.counts) total_[word] += count;
  });
}

void WordCounter::count_lines(std::string_view lines, const std::string& name, std::size_t first_line,
                              Tally& tally) const {
  for_each_line(lines, first_line, [&](std::size_t number, std::string_view line) {
    count_text(Json::parse(line, fmt::format("{}: line {}", name, number)).text("text"), tally);
  });
}

void WordCounter::count_text(std::string_view text, Tally& tally) const {
  while (!text.empty()) {
    const std::size_t good = well_formed_length(text);
    if (good > 0) count_well_formed(text.substr(0, good), tally);
    text.remove_prefix(good);
    // Bytes that are no text teach nothing about words.
    if (!text.empty()) text.remove_prefix(utf8_front(text).length);
  }
}

void WordCounter::count_well_formed(std::string_view text, Tally& tally) const {
  const auto on_text = [&](std::string_view piece) {
    if (normalization_ == Normalization::None || is_surely_nfc(piece)) return count_words(piece, tally);
    count_words(to_nfc(piece), tally);
  };
  special_.cut(text, on_text, [](TokenId) {});
}

void WordCounter::count_words(std::string_view text, Tally& tally) const {
  pre_tokenizer_.cut(text, tally.scratch, [&](std::string_view word) {
    for (; !word.empty(); word.remove_prefix(std::min(kLongestWord, word.size()))) {
      const std::string_view part = word.substr(0, kLongestWord);
      if (const auto found = tally.counts.find(part); found != tally.counts.end()) {
        ++found->second;
      } else {
        tally.counts.emplace(part, 1);
      }
    }
  });
}

std::vector<WordCount> WordCounter::words() const {
  std::vector<WordCount> words;
  words.reserve(total_.size());
  for (const auto& [word, count] : total_) words.push_back({word, count});
  std::ranges::sort(words, {}, &WordCount::word);
  return words;
}

}  // namespace sluice
