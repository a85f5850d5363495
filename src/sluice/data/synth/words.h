// Words that several kinds of text share: people, trades, places, things.
#pragma once

#include "sluice/data/synth/grammar.h"

namespace sluice::synth {

Patterns women();
Patterns men();

std::span<const Rule> shared_rules();

// A name with its pronouns.
struct Person {
  std::string name, he, him, his;
};

// People with different names.
std::vector<Person> some_people(Dice& dice, size_t count);

// Sets who, he, him, his; with the suffix "2" who2, he2 and so on.
void set_person(Writer& writer, const Person& person, std::string_view suffix = "");

}  // namespace sluice::synth
