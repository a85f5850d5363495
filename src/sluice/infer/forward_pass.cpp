#include "sluice/infer/forward_pass.h"

namespace sluice {

Var hidden_states(const Context& context, const Decoder& decoder, std::span<const TokenId> ids,
                  DecoderState* state) {
  return decoder.forward(context, ids, Sequences::equal(1, static_cast<int64_t>(ids.size())), state).y;
}

}  // namespace sluice
