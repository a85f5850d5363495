#include "sluice/data/synth/topic.h"

namespace sluice::synth {

void set_fields(Writer& writer, Dice& dice, const Topic& topic) {
  for (const WordField& field : topic.words) writer.set(field.name, writer.text(field.pattern));
  for (const NumberField& field : topic.numbers) writer.set(field.name, dice.between(field.low, field.high));
  for (const SumField& field : topic.sums)
    writer.set(field.name, writer.number(field.left) + writer.number(field.right));
}

}  // namespace sluice::synth
