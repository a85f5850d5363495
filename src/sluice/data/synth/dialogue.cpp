// Two people talk: one tells, the other asks again later.
#include "sluice/data/synth/dialogue_topics.h"
#include "sluice/data/synth/kinds.h"
#include "sluice/data/synth/words.h"

namespace sluice::synth {
namespace {

class Dialogue {
 public:
  explicit Dialogue(Dice& dice)
      : dice_(dice), topic_(dice.pick(kDialogueTopics)), writer_(dice, {}), people_(some_people(dice, 3)) {
    set_person(writer_, people_[0]);
    set_person(writer_, people_[1], "2");
    writer_.set("friend", people_[2].name);
    set_fields(writer_, dice, topic_);
    told_ = dice.distinct(topic_.statements.size(), topic_.statements.size());
  }

  std::string talk() {
    tells(writer_.text(topic_.openings));
    for (const size_t i : told_) {
      listens(writer_.text(kReactions));
      tells(writer_.text(topic_.statements[i].text));
    }
    for (const size_t i : dice_.distinct(dice_.below(3), std::size(kDigressions))) {
      listens(writer_.text(kDigressions[i].line));
      tells(writer_.text(kDigressions[i].reply));
    }
    for (const size_t i : dice_.distinct(2, told_.size())) ask_again(topic_.statements[told_[i]]);
    listens(writer_.text(kFarewells));
    return text_;
  }

 private:
  void ask_again(const Statement& statement) {
    writer_.set("question", writer_.text(statement.question));
    listens(writer_.text(kAskAgain));
    tells(writer_.text(statement.answer));
  }

  void tells(const std::string& line) { text_ += people_[0].name + ": " + capitalised(line) + '\n'; }
  void listens(const std::string& line) { text_ += people_[1].name + ": " + capitalised(line) + '\n'; }

  Dice& dice_;
  const Topic& topic_;
  Writer writer_;
  std::vector<Person> people_;  // who tells, who listens, who is talked about
  std::vector<size_t> told_;
  std::string text_;
};

}  // namespace

std::string dialogue(Dice& dice) {
  return Dialogue(dice).talk();
}

}  // namespace sluice::synth
