// Text that repeats itself: refrains that count down, cycles of words, rows of a table, one sentence with a
// changing word. After a line or two a model that looks back knows the rest.
#include <fmt/format.h>

#include "sluice/data/synth/kinds.h"
#include "sluice/data/synth/words.h"

namespace sluice::synth {
namespace {

constexpr size_t kEnough = 420;  // every form stops at the first unit that reaches it, or a little later

// "Seven lamps are lit along the pier, …", one fewer each time.
std::string countdown(Dice& dice) {
  Writer writer(dice, {});
  writer.text("{item=thing_noun}{where=some_place}");
  writer.set("act", writer.text("[breaks in two|is sold to {a trade}|goes missing|is given to {man}]"));
  std::string text;
  for (int n = dice.between(6, 10); n > 0; --n) {
    writer.set("n", n);
    writer.set("left", n == 1 ? "none" : in_words(n - 1));
    writer.set("stand", n == 1 ? "stands" : "stand");
    writer.set("one", n == 1 ? "It" : "One of them");
    text += writer.text("{^n*item} {stand} at {where}.\n{one} {act}; that leaves {left}.\n");
  }
  return text;
}

// The same few words over and over.
std::string cycle(Dice& dice) {
  Writer writer(dice, {});
  std::vector<std::string> words(3 + dice.below(4));
  for (std::string& word : words) word = writer.text(dice.chance(0.5) ? "{colour}" : "{small_thing}");
  const std::string separator = dice.chance(0.5) ? ", " : " ";
  const size_t enough = kEnough + dice.below(400);
  std::string text;
  while (text.size() < enough)
    for (size_t i = 0; i < words.size(); ++i) text += words[i] + (i + 1 == words.size() ? "\n" : separator);
  return text;
}

// One sentence, one word of it changing in a fixed order.
std::string litany(Dice& dice) {
  Writer writer(dice, {});
  const std::vector<Person> people = some_people(dice, static_cast<size_t>(dice.between(2, 4)));
  writer.text("{place=some_place}{dish=food}{thing=thing_noun}");
  const std::string pattern(dice.pick(std::vector<std::string_view>{
      "{who} went to {place} and bought {dish}.", "Give the {thing} to {who}, for {who} has earned it.",
      "{who} says that {who} has never seen the {thing}.", "This is how {who} eats {dish} at {place}."}));
  const size_t enough = kEnough + dice.below(400);
  std::string text;
  for (size_t i = 0; text.size() < enough; ++i) {
    set_person(writer, people[i % people.size()]);
    text += writer.text(pattern) + '\n';
  }
  return text;
}

// Rows of numbers that grow by the same step.
std::string rows(Dice& dice) {
  Writer writer(dice, {});
  const std::string item = plural(writer.text("{small_thing}"));
  const std::string name = writer.text("[shelf|page|crate|room]");
  const int step = dice.between(2, 9), start = dice.between(1, 30);
  const size_t enough = kEnough + dice.below(400);
  std::string text;
  for (int i = 0; text.size() < enough; ++i)
    text += fmt::format("{} {}: {} {}\n", name, i + 1, start + i * step, item);
  return text;
}

// A verse, and its refrain again and again.
std::string refrain(Dice& dice) {
  Writer writer(dice, {});
  writer.text("{what=thing_noun}{tint=colour}");
  const std::string burden =
      writer.text("Turn, turn, {tint} {what}, turn {hiding_place},\nand turn again on {day}.\n");
  const size_t enough = kEnough + dice.below(400);
  std::string text;
  while (text.size() < enough)
    text += writer.text("[{woman}|{man}] the {trade} [came|sang|waited] at {some_place}.\n") + burden;
  return text;
}

}  // namespace

std::string repetitive(Dice& dice) {
  switch (dice.below(5)) {
    case 0:
      return countdown(dice);
    case 1:
      return cycle(dice);
    case 2:
      return litany(dice);
    case 3:
      return rows(dice);
    default:
      return refrain(dice);
  }
}

}  // namespace sluice::synth
