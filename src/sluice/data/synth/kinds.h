// One function per kind of text; each lives in the file of its name.
#pragma once

#include <string>

#include "sluice/data/synth/dice.h"

namespace sluice::synth {

std::string story(Dice& dice);
std::string fact(Dice& dice);
std::string technical(Dice& dice);
std::string dialogue(Dice& dice);
std::string code(Dice& dice);
std::string repetitive(Dice& dice);

}  // namespace sluice::synth
