// Instructions: parts are put out of their working state one after the other, work is done, and they are put
// back in reverse order, each step naming the one that it undoes.
#include <fmt/format.h>

#include "sluice/data/synth/kinds.h"
#include "sluice/data/synth/words.h"

namespace sluice::synth {
namespace {

struct Control {
  std::string_view noun, label, undo, undone, redo, working;
};

constexpr Control kControls[] = {{"valve", "V", "close", "closed", "open", "open"},
                                 {"switch", "S", "turn off", "turned off", "turn on", "on"},
                                 {"lever", "L", "lower", "lowered", "raise", "up"},
                                 {"clamp", "C", "loosen", "loosened", "tighten", "tight"},
                                 {"cover", "P", "remove", "removed", "refit", "in place"},
                                 {"cable", "K", "unplug", "unplugged", "plug in", "plugged in"},
                                 {"hatch", "H", "unlock", "unlocked", "lock", "locked"}};

constexpr std::string_view kDevices[] = {"[heat|water|vacuum] pump",
                                         "[paper|wool] press",
                                         "kiln controller",
                                         "[tide|rain] gauge",
                                         "signal repeater",
                                         "[grain|coffee] dryer",
                                         "loom drive",
                                         "[harbour|workshop] crane",
                                         "pulse counter"};
constexpr std::string_view kTitles[] = {"[Service|Maintenance] of the {device}",
                                        "How to [clean|inspect|overhaul] the {device}",
                                        "{^device}: [yearly inspection|change of filters]"};
constexpr std::string_view kKits[] = {
    "The kit contains {bolts*bolt} and {washers*washer}, {pieces} pieces in all.",
    "You need {bolts*bolt} and {washers*washer}. Check that there are {pieces} pieces before you begin."};
constexpr std::string_view kLimits[] = {
    "While it runs, gauge {gauge} must stay below {#limit} {unit}.",
    "The {device} is built for at most {#limit} {unit}, shown by gauge {gauge}."};
constexpr std::string_view kUndoings[] = {"{^undo} {part}.", "{^undo} {part} [slowly|by hand].",
                                          "Find {part} and {undo} it."};
constexpr std::string_view kWorks[] = {
    "Wait {#minutes} minutes until the {device} has cooled down.",
    "Clean the [inlet|sieve|sensor] with [warm water|alcohol|a dry cloth].",
    "Replace the {bolts*bolt}; put {a washer_kind} washer under each.",
    "Note the reading of gauge {gauge}; it should be zero now.",
    "Wipe the [rail|seal|housing] and put {a washer_kind} washer on each side."};
constexpr std::string_view kRedoings[] = {"{^redo} {part} again. It was {undone} in step {#step}.",
                                          "{^redo} {part}, which was {undone} in step {#step}."};
constexpr std::string_view kTroubles[] = {
    "If gauge {gauge} shows more than {#limit} {unit}, {undo} {part} and go back to step {#back}.",
    "Should gauge {gauge} rise above {#limit} {unit}: {undo} {part}, then repeat from step {#back}."};
constexpr std::string_view kUnits[] = {"bar", "kPa", "volts", "watts", "degrees", "rpm"};
constexpr std::string_view kWasherKinds[] = {"steel", "rubber", "copper", "felt"};

constexpr Rule kRules[] = {{"devices", kDevices}, {"units", kUnits}, {"washer_kinds", kWasherKinds}};

class Manual {
 public:
  explicit Manual(Dice& dice) : dice_(dice), writer_(dice, kRules) {
    writer_.text("{device=devices}{unit=units}{washer_kind=washer_kinds}");
    writer_.set("gauge", fmt::format("G{}", dice.between(1, 9)));
    writer_.set("limit", dice.between(21, 90));
    writer_.set("minutes", dice.between(5, 40));
    writer_.set("bolts", dice.between(2, 8));
    writer_.set("washers", 2 * writer_.number("bolts"));
    writer_.set("pieces", 3 * writer_.number("bolts"));
    for (const size_t i : dice.distinct(static_cast<size_t>(dice.between(3, 4)), std::size(kControls))) {
      const Control& control = kControls[i];
      const std::string number = std::to_string(dice.between(1, 9));
      parts_.push_back({control, std::string(control.noun) + ' ' + std::string(control.label) + number});
    }
  }

  std::string write() {
    line(kTitles);
    line(kKits);
    line(kLimits);
    text_ += '\n';
    for (Part& part : parts_) {
      set_part(part);
      part.step = add_step(kUndoings);
    }
    const int first_work = steps_ + 1;
    const size_t works = static_cast<size_t>(dice_.between(2, 3));
    for (const size_t i : dice_.distinct(works, std::size(kWorks))) add_step(Patterns(kWorks).subspan(i, 1));
    for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
      set_part(*part);
      add_step(kRedoings);
    }
    writer_.set("back", first_work);
    set_part(dice_.pick(parts_));
    line(kTroubles);
    line_of_states();
    return text_;
  }

 private:
  struct Part {
    const Control& control;
    std::string name;
    int step = 0;  // that put it out of its working state
  };

  void line(Patterns patterns) { text_ += writer_.text(patterns) + '\n'; }

  int add_step(Patterns patterns) {
    text_ += std::to_string(++steps_) + ". " + writer_.text(patterns) + '\n';
    return steps_;
  }

  void set_part(const Part& part) {
    writer_.set("part", part.name);
    writer_.set("undo", std::string(part.control.undo));
    writer_.set("undone", std::string(part.control.undone));
    writer_.set("redo", std::string(part.control.redo));
    writer_.set("step", part.step);
  }

  void line_of_states() {
    text_ += "After step " + std::to_string(steps_) + ": ";
    for (size_t i = 0; i < parts_.size(); ++i) {
      text_ += parts_[i].name + " is " + std::string(parts_[i].control.working);
      text_ += i + 1 == parts_.size() ? ".\n" : ", ";
    }
  }

  Dice& dice_;
  Writer writer_;
  std::vector<Part> parts_;
  std::string text_;
  int steps_ = 0;
};

}  // namespace

std::string technical(Dice& dice) {
  return Manual(dice).write();
}

}  // namespace sluice::synth
