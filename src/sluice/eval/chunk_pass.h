// Running a model over the chunks of a text, one pass each.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "sluice/base/job_control.h"
#include "sluice/base/threads.h"
#include "sluice/eval/perplexity.h"
#include "sluice/infer/loaded_model.h"

namespace sluice {

struct ChunkPass {
  int64_t index = 0;
  const Chunk& chunk;
  std::span<const TokenId> inputs;  // what the model saw: all but the last token
  std::span<const float> losses;    // of the tokens that the chunk predicts
  ChunkNll nll = {};
};

struct ChunkJob {
  const ChunkedText& text;
  std::optional<Range> chunks = {};  // none: all
  Probe* probe = nullptr;
  std::function<void(int64_t)> begin = {};  // called with the number of a chunk before its pass
  const JobControl& control;
};

// Fails with InfinitePerplexity, which names the layer where it began, if a likelihood is not finite.
void for_each_chunk(const LoadedModel& model, const ChunkJob& job,
                    const std::function<void(const ChunkPass&)>& sink);

}  // namespace sluice
