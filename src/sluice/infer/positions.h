// Texts that are longer than a model is made for.
#pragma once

#include <cstdint>
#include <string_view>

#include "sluice/base/job_control.h"
#include "sluice/model/config.h"

namespace sluice {

// A warning if a sequence of `tokens` has more than the model's positions; `who` begins the sentence: "a
// chunk has". Not refused: how a model does beyond its length is a question that people ask.
void warn_beyond_positions(const ModelConfig& config, std::string_view who, int64_t tokens,
                           const JobControl& control);

}  // namespace sluice
