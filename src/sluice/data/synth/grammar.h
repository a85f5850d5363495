// Sentences from patterns. In a pattern
//
//   {x}        is what x was set to, or else an entry of the rule x, which is a pattern itself
//   {x=rule}   is an entry of the rule; x is set to it
//   {n}        is a number in words, {#n} in digits, {n*lamp} "one lamp" or "three lamps"; after the star may
//              be a word or what a word was set to
//   {a x}      has "a" or "an" in front, {^x} and {^a x} begin with a capital
//   [p|q|r]    is one of these patterns, not nested
//
// A name that is neither set nor a rule is a mistake in the tables: an assertion.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/data/synth/dice.h"

namespace sluice::synth {

using Patterns = std::span<const std::string_view>;

struct Rule {
  std::string_view name;
  Patterns entries;
};

class Writer {
 public:
  // The kind's own rules come before those that all kinds share (data/synth/words.h).
  Writer(Dice& dice, std::span<const Rule> rules) : dice_(dice), rules_(rules) {}

  void set(std::string_view name, std::string value);
  void set(std::string_view name, int value);

  const std::string& word(std::string_view name) const;
  int number(std::string_view name) const;

  std::string text(std::string_view pattern);
  std::string text(Patterns choices) { return text(dice_.pick(choices)); }

 private:
  void expand(std::string_view pattern, std::string& out);
  std::string slot(std::string_view inside);
  std::string value(std::string_view name);
  std::string counted(std::string_view number_name, std::string_view noun) const;
  Patterns rule(std::string_view name) const;

  Dice& dice_;
  std::span<const Rule> rules_;
  std::map<std::string, std::string, std::less<>> words_;
  std::map<std::string, int, std::less<>> numbers_;
};

std::string in_words(int number);  // "twelve"; digits where words get long
std::string plural(std::string_view noun);
std::string capitalised(std::string text);

}  // namespace sluice::synth
