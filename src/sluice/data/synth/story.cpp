// Stories: a few people, a thing that one of them has, a hoard whose count changes. What is told is what
// happened in a small world, so the answers at the end can be found in the text.
#include "sluice/data/synth/kinds.h"
#include "sluice/data/synth/story_patterns.h"
#include "sluice/data/synth/words.h"

namespace sluice::synth {
namespace {

class Story {
 public:
  explicit Story(Dice& dice)
      : dice_(dice), writer_(dice, kStoryRules), people_(some_people(dice, dice.chance(0.5) ? 2 : 3)) {
    for (const size_t i : dice.distinct(3, std::size(kDistinctPlaces))) places_.push_back(kDistinctPlaces[i]);
    const std::string noun = writer_.text("{thing_noun}");
    writer_.set("noun", noun);
    writer_.set("thing", writer_.text("{colour} ") + noun);
    writer_.set("home", writer_.text("{some_place}"));
    writer_.set("owner", people_[0].name);
    writer_.text("{goods=small_thing}{container=container_noun}");
    writer_.set("goods_many", plural(writer_.word("goods")));
    set_count(dice.between(3, 9));
  }

  std::string tell() {
    introduce();
    const size_t enough = static_cast<size_t>(dice_.between(450, 1050));
    move_thing();
    while (text_.size() < enough) {
      happen();
      if (dice_.chance(0.12)) text_.back() = '\n';
    }
    if (hidden_) find();
    set_actors(holder_);
    writer_.set("holder", people_[holder_].name);
    say(Patterns(kEndings).first(std::size(kEndings) - (holder_ == 0 ? 1 : 0)));
    text_.back() = '\n';
    return text_;
  }

 private:
  static constexpr std::string_view kDistinctPlaces[] = {
      "the harbour", "the mill",   "the market",  "the old bridge", "the station",
      "the bakery",  "the school", "the orchard", "the chapel",     "the lighthouse"};

  void say(Patterns patterns) { text_ += writer_.text(patterns) + ' '; }

  void introduce() {
    set_actors(0);
    say(kHeroes);
    say(kTreasures);
    set_person(writer_, people_[1], "2");
    say(kFriends);
    if (people_.size() > 2) {
      set_person(writer_, people_[2], "2");
      say(kStrangers);
    }
    say(kHoards);
    actor_ = people_.size();  // nobody: the next sentence begins with a name
  }

  // One thing at a time, of those that can happen as things are, never the same twice running.
  void happen() {
    constexpr size_t kEvents = 8;
    last_event_ = (last_event_ + 1 + dice_.below(kEvents - 1)) % kEvents;
    switch (last_event_) {
      case 0:
        return hidden_ ? find() : move_thing();
      case 1:
        return act(any(), kMeetings);
      case 2:
        return act(any(), kWalks);
      case 3:
        return gain();
      case 4:
        return lose();
      case 5:
        return act(any(), kCounts);
      case 6:
        return ask();
      default:
        return act(any(), kMoods);
    }
  }

  void move_thing() { return dice_.chance(0.4) ? hide() : give(); }

  void give() {
    const size_t giver = holder_;
    act(giver, kGifts);
    holder_ = other_;
  }

  void hide() {
    writer_.set("hiding", writer_.text("{hiding_place}"));
    act(holder_, kHidingWays);
    hidden_ = true;
  }

  void find() {
    act(any(), kFinds);
    holder_ = actor_;
    hidden_ = false;
  }

  void gain() {
    set_change(dice_.between(1, 4));
    set_count(writer_.number("n") + writer_.number("k"));
    act(any(), kGains);
  }

  void lose() {
    if (writer_.number("n") < 3) return gain();
    set_change(dice_.between(1, writer_.number("n") - 1));
    set_count(writer_.number("n") - writer_.number("k"));
    act(any(), kLosses);
  }

  // Somebody asks who does not have it.
  void ask() {
    writer_.set("holder", people_[holder_].name);
    act(holder_, hidden_ ? Patterns(kWhereHidden) : Patterns(kWhereHeld));
  }

  void act(size_t who, Patterns patterns) {
    set_actors(who);
    say(patterns);
  }

  size_t any() { return dice_.below(people_.size()); }

  // The other person is somebody else. The pronoun is enough where the sentence before had the same actor.
  void set_actors(size_t who) {
    other_ = (who + 1 + dice_.below(people_.size() - 1)) % people_.size();
    set_person(writer_, people_[who]);
    set_person(writer_, people_[other_], "2");
    const bool known = who == actor_ && dice_.chance(0.7);
    writer_.set("subject", known ? people_[who].he : people_[who].name);
    writer_.set("place", std::string(dice_.pick(places_)));
    actor_ = who;
  }

  void set_count(int n) {
    writer_.set("n", n);
    writer_.set("were", n == 1 ? "was" : "were");
  }

  void set_change(int k) {
    writer_.set("k", k);
    writer_.set("them", k == 1 ? "it" : "them");
  }

  Dice& dice_;
  Writer writer_;
  std::vector<Person> people_;
  std::vector<std::string_view> places_;
  std::string text_;
  size_t holder_ = 0, actor_ = 0, other_ = 1, last_event_ = 0;
  bool hidden_ = false;
};

}  // namespace

std::string story(Dice& dice) {
  return Story(dice).tell();
}

}  // namespace sluice::synth
