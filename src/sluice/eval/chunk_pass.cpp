#include "sluice/eval/chunk_pass.h"

#include <cmath>
#include <numeric>

#include "sluice/infer/nonfinite_tap.h"
#include "sluice/infer/positions.h"

namespace sluice {

void for_each_chunk(const LoadedModel& model, const ChunkJob& job,
                    const std::function<void(const ChunkPass&)>& sink) {
  const ChunkedText& text = job.text;
  const auto [first, last] = job.chunks.value_or(Range{0, text.chunks()});
  // Once for all parts of a text.
  if (first == 0) warn_beyond_positions(model.config(), "a chunk feeds", text.chunk_length - 1, job.control);
  const Context context = model.context(job.probe, text.chunks() > 1 ? Packing::Keep : Packing::Once);
  for (int64_t i = first; i < last; ++i) {
    job.control.stop_if_cancelled();
    job.control.report("chunks", i, text.chunks());
    if (job.begin) job.begin(i);
    const Chunk chunk = text.chunk(i);
    const auto inputs = std::span(chunk.ids).first(chunk.ids.size() - 1);
    const std::vector<float> losses = predicted_losses(context, model.decoder(), chunk);
    const ChunkNll nll{.sum = std::accumulate(losses.begin(), losses.end(), 0.0), .tokens = chunk.predicted};
    if (!std::isfinite(nll.sum)) {
      throw InfinitePerplexity(not_finite("the likelihood of the text is", context, model.decoder(), inputs)
                                   .inside(model.path().string()));
    }
    sink({.index = i, .chunk = chunk, .inputs = inputs, .losses = losses, .nll = nll});
  }
  job.control.report("chunks", last, text.chunks());
}

}  // namespace sluice
