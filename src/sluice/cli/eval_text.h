// An evaluation as a person reads it.
#pragma once

#include <string>

#include "sluice/eval/evaluate.h"

namespace sluice::cli {

std::string as_text(const Evaluation& evaluation);

}  // namespace sluice::cli
