// Things that can be told and asked about: a topic has fields with values, and statements over them, each
// with the question that it answers.
#pragma once

#include "sluice/data/synth/grammar.h"

namespace sluice::synth {

struct WordField {
  std::string_view name, pattern;
};

struct NumberField {
  std::string_view name;
  int low, high;
};

struct SumField {
  std::string_view name, left, right;
};

struct Statement {
  std::string_view text, question, answer;
};

struct Topic {
  std::span<const WordField> words;
  std::span<const NumberField> numbers;
  std::span<const SumField> sums;
  Patterns openings;
  std::span<const Statement> statements;
};

// Gives every field of the topic a value.
void set_fields(Writer& writer, Dice& dice, const Topic& topic);

}  // namespace sluice::synth
