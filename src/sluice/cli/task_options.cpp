#include "sluice/cli/task_options.h"

#include "sluice/base/error.h"

namespace sluice::cli {

void TaskOptions::declare(Options& options) {
  options.choice({.name = "--task",
                  .value = "TASK",
                  .text = "A task instead of a text: backcopy, whose text sluice data synth makes",
                  .words = {"backcopy"}},
                 task);
  options.integer({.name = "--seed",
                   .value = "N",
                   .text = "Of the task: the seed of the text that the model was trained on (default: 0)",
                   .low = 0,
                   .high = std::numeric_limits<long>::max()},
                  seed);
  options.integer({.name = "--documents",
                   .value = "N",
                   .text = "Of the task: how many documents (default: 200)",
                   .low = 1,
                   .high = 1'000'000},
                  documents);
  start.declare(options,
                "Of the task: what its documents begin with, as those that the model was trained on");
}

void TaskOptions::check(const TextOptions& beside) const {
  if (task.empty() && (seed || documents || start.is_given()))
    throw usage_error({.where = "eval", .what = "--seed, --documents and --start are of --task"});
  if (task.empty()) return;
  if (beside.text)
    throw usage_error({.where = "eval",
                       .what = "--task takes no text",
                       .hint = "leave --data, --ids-file or --held-out out"});
  if (beside.cutting)
    throw usage_error(
        {.where = "eval", .what = "--chunk, --chunks, --stride and --bos are of texts, not of --task"});
  if (beside.against) throw usage_error({.where = "eval", .what = "--against is of texts, not of --task"});
}

BackcopyRequest TaskOptions::request() const {
  BackcopyRequest request{.seed = static_cast<uint64_t>(seed.value_or(0)), .start = start.start()};
  request.documents = documents.value_or(request.documents);
  return request;
}

}  // namespace sluice::cli
