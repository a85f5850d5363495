// A model in which exactly one head carries the answer. It looks for the letters of a prompt and copies them
// to the channels that the output layer reads; nothing else reaches those. All other heads are random and
// write into channels that only norms and later heads see. Every head has a gate of about 0.7.
#pragma once

#include <filesystem>

#include "sluice/eval/chunked_text.h"

namespace sluice {

struct PlantedAnswer {
  int64_t layers = 3, heads = 4;
  int64_t layer = 1, head = 2;  // that carry it

  static constexpr int64_t kLetters = 8;      // tokens 0 to 7
  static constexpr int64_t kVocabulary = 16;  // the others say nothing
  static constexpr double kGate = 0.7;
};

// Writes it to the directory. It has no tokenizer.
void write_planted_answer(const std::filesystem::path& out, const PlantedAnswer& planted = {});

// A letter, then nothing but tokens without a meaning: the model says the letter.
std::vector<TokenId> letter_prompt(TokenId letter, int64_t length = 6);

// Chunks of one letter each, repeated, which the model predicts.
ChunkedText letter_text(int64_t chunks = 6, int64_t length = 8);

}  // namespace sluice
