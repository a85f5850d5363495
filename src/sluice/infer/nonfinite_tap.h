// Where a computation ceased to be finite: for whoever met a result that is not.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "sluice/base/error.h"
#include "sluice/model/decoder.h"
#include "sluice/text/vocabulary.h"

namespace sluice {

bool is_finite(const Tensor& values);  // F32

// Runs the tokens once more, up to the final norm, and tells the first tap whose value is not finite; none if
// all are. A probe of the context, which may change values, does so again.
std::optional<std::string> first_nonfinite_tap(const Context& context, const Decoder& decoder,
                                               std::span<const TokenId> ids, const Sequences& sequences);

// A failure that tells it of one sequence: `what` is not finite.
Error not_finite(const std::string& what, const Context& context, const Decoder& decoder,
                 std::span<const TokenId> ids);

}  // namespace sluice
