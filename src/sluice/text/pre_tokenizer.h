// Cuts text into the words within which tokens are merged.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/text/pattern.h"

namespace sluice {

// GPT-2's own pattern, which byte-level tokenizers use where the file names no other, and that of Qwen2,
// Qwen2.5 and Qwen3.
enum class WordPattern { Gpt2, Qwen };

const char* text_of(WordPattern pattern);

struct PreTokenizer {
  std::vector<Pattern> splits;         // applied in turn, each to the pieces of the one before
  bool prefix_space = false;           // then each piece gets a space in front unless it has one
  std::optional<Pattern> final_split;  // and is cut once more

  template <typename Sink>
  void cut(std::string_view text, PatternScratch& scratch, const Sink& sink) const {
    cut_from(0, text, scratch, sink);
  }

 private:
  template <typename Sink>
  void cut_from(std::size_t stage, std::string_view text, PatternScratch& scratch, const Sink& sink) const {
    if (stage < splits.size()) {
      const auto rest = [&](std::string_view piece) { cut_from(stage + 1, piece, scratch, sink); };
      return splits[stage].cut(text, scratch, rest);
    }
    std::string spaced;
    if (prefix_space && !text.starts_with(' ')) text = spaced.assign(1, ' ').append(text);
    if (!final_split) return sink(text);
    final_split->cut(text, scratch, sink);
  }
};

}  // namespace sluice
