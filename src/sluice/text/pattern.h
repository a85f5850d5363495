// A compiled pattern that cuts text into words. PCRE2 is behind this file alone.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// What one thread needs to match; fits any pattern.
class PatternScratch {
 public:
  PatternScratch();
  PatternScratch(PatternScratch&&) noexcept;
  ~PatternScratch();

 private:
  friend class Pattern;
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

// Immutable; may be used from several threads, each with a scratch of its own.
class Pattern {
 public:
  enum class Kind { Regex, Literal };
  struct Source {
    Kind kind = Kind::Regex;
    std::string text;
    std::string where;  // for errors
  };

  // Bad input if it is not a pattern, or one that PCRE2 would read differently from the reference.
  explicit Pattern(const Source& source);
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  struct Match {
    std::size_t begin, end;
  };

  Kind kind() const;
  const std::string& text() const;

  // The first match at or behind `from`; what stands before is seen by look-behind. The text is well-formed
  // UTF-8. Bad input if the pattern backtracks without end on it.
  std::optional<Match> find(std::string_view text, std::size_t from, PatternScratch& scratch) const;

  // Cuts the text at the beginning and end of each match. No piece is empty.
  template <typename Sink>
  void cut(std::string_view text, PatternScratch& scratch, const Sink& sink) const {
    std::size_t done = 0, from = 0;
    while (from <= text.size()) {
      const std::optional<Match> match = find(text, from, scratch);
      if (!match) break;
      if (match->begin > done) sink(text.substr(done, match->begin - done));
      if (match->end > match->begin) sink(text.substr(match->begin, match->end - match->begin));
      done = match->end;
      from = match->end > match->begin ? match->end : behind_character(text, match->end);
    }
    if (done < text.size()) sink(text.substr(done));
  }

 private:
  static std::size_t behind_character(std::string_view text, std::size_t at);

  struct Code;
  std::unique_ptr<const Code> code_;
};

}  // namespace sluice
