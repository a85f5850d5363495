// Generation, one token after the other.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>

#include "sluice/infer/sampler.h"
#include "sluice/model/decoder.h"

namespace sluice {

struct GenerateOptions {
  SamplerOptions sampler = {};
  int64_t max_tokens = 64;
  std::set<int32_t> stop = {};  // ends the text; not part of the result
};

struct Generation {
  std::vector<int32_t> ids;           // without the prompt
  std::optional<int32_t> stopped_by;  // which of `stop`; none: long enough
  double prompt_seconds = 0, decode_seconds = 0;
};

class Generator {
 public:
  Generator(const Context& context, const Decoder& decoder) : context_(context), decoder_(decoder) {}

  // Calls `arrived` with every new token; false from it ends the generation. Fails if logits are not finite:
  // no token is the next then.
  Generation generate(std::span<const int32_t> prompt, const GenerateOptions& options,
                      const std::function<bool(int32_t)>& arrived = {});

 private:
  // Logits after the last of `ids`, which follow the tokens so far.
  std::span<const float> advance(std::span<const int32_t> ids);
  void check_finite(std::span<const int32_t> prompt, std::span<const int32_t> added) const;

  Context context_;
  const Decoder& decoder_;
  DecoderState state_;
  Tensor logits_;
};

}  // namespace sluice
