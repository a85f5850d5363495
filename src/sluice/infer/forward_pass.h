// The one place where token ids become a pass through a decoder.
#pragma once

#include <span>

#include "sluice/model/decoder.h"
#include "sluice/text/vocabulary.h"

namespace sluice {

// The final norm's output [N, D] of one sequence. With a state the ids go on behind its tokens.
Var hidden_states(const Context& context, const Decoder& decoder, std::span<const TokenId> ids,
                  DecoderState* state = nullptr);

}  // namespace sluice
