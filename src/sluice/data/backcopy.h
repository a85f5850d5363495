// A nursery for attention sinks: text in which a head has work after a few letters only, and must put its
// attention somewhere everywhere else. A start symbol, then letters that follow each other by a random table;
// after a trigger comes the letter before it once more. The bigram-backcopy task of Guo et al.,
// "Active-dormant attention heads" (2024).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/base/json.h"
#include "sluice/base/random.h"

namespace sluice {

// What a model sees first of a document.
enum class BackcopyStart {
  Symbol,  // the same sign in every document, which stands nowhere else
  Letter   // what follows that symbol: a letter that may stand anywhere
};

inline constexpr Choice<BackcopyStart> kBackcopyStarts[] = {{"symbol", BackcopyStart::Symbol},
                                                            {"letter", BackcopyStart::Letter}};

// How many signs at the beginning of a document the model does not see.
constexpr size_t unseen_signs(BackcopyStart start) {
  return start == BackcopyStart::Letter ? 1 : 0;
}

class BackcopyChain {
 public:
  static constexpr char kStart = '^';
  static constexpr size_t kLetters = 52;  // a to z and A to Z
  static constexpr size_t kTriggers = 6;
  static constexpr int64_t kUsualSequence = 128;                // tokens of a document
  static constexpr int64_t kUsualLetters = kUsualSequence - 2;  // of these: without start and end

  // As many as give a sequence of 128 for either start.
  static constexpr int64_t usual_letters(BackcopyStart start) {
    return kUsualLetters + static_cast<int64_t>(unseen_signs(start));
  }

  // Triggers and table depend on the seed.
  explicit BackcopyChain(uint64_t seed);

  bool is_trigger(char letter) const;

  // Whether what follows is a copy: after a trigger that has a letter before it.
  bool is_copied(std::string_view before) const;

  // That this letter follows. `before` begins with the start symbol.
  double probability(std::string_view before, char letter) const;

  // The start symbol and so many letters. Documents of different indices are independent.
  std::string document(uint64_t index, size_t letters) const;

 private:
  using Row = std::array<double, kLetters>;  // adds up to 1

  const Row& row_behind(char sign) const;
  char next(std::string_view before, double uniform) const;

  Random random_;
  std::array<bool, kLetters> triggers_ = {};
  std::array<Row, kLetters + 1> rows_ = {};  // the last: after the start symbol
};

}  // namespace sluice
