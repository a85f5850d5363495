// Entries of an encyclopedia of things that do not exist, then questions about what was said. Nothing of it
// can be known beforehand: the answers are in the text alone.
#include "sluice/data/synth/fact_topics.h"
#include "sluice/data/synth/kinds.h"

namespace sluice::synth {
namespace {

class Entry {
 public:
  Entry(Dice& dice, const Topic& topic, size_t statements)
      : topic_(topic), writer_(dice, {}), told_(dice.distinct(statements, topic.statements.size())) {
    set_fields(writer_, dice, topic);
  }

  std::string text() {
    std::string text = writer_.text(topic_.openings);
    for (const size_t i : told_) text += ' ' + writer_.text(topic_.statements[i].text);
    return text + '\n';
  }

  // The statements are asked about in the order in which they were told.
  std::string question(size_t number) {
    const Statement& asked = topic_.statements[told_[number]];
    std::string text = "Question: " + writer_.text(asked.question);
    text += "\nAnswer: " + writer_.text(asked.answer);
    return text + '\n';
  }

 private:
  const Topic& topic_;
  Writer writer_;
  std::vector<size_t> told_;
};

}  // namespace

std::string fact(Dice& dice) {
  std::vector<Entry> entries;
  const size_t count = 1 + dice.below(2);
  for (size_t i = 0; i < count; ++i) entries.emplace_back(dice, dice.pick(kFactTopics), count == 1 ? 5 : 4);
  const size_t questions = count == 1 ? 3 : 2;
  std::string text;
  for (Entry& entry : entries) text += entry.text() + '\n';
  // The first entry is asked about last: its answers are the farthest away.
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry)
    for (size_t i = 0; i < questions; ++i) text += entry->question(i);
  return text;
}

}  // namespace sluice::synth
