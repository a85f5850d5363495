// How large the values are that attention can take from the first token. Where a sink has grown they tend to
// be small: attention that goes there adds little.
#pragma once

#include "sluice/base/job_control.h"
#include "sluice/eval/chunked_text.h"
#include "sluice/infer/loaded_model.h"

namespace sluice {

// The mean norm of the first token's value over that of the others': of each key/value head, then the mean
// over heads and layers. NaN if no chunk has a second token.
double first_value_norm(const LoadedModel& model, const ChunkedText& text, const JobControl& control = {});

}  // namespace sluice
