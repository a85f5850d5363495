#include "sluice/ablate/head_removal.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/error.h"
#include "sluice/data/batches.h"
#include "sluice/train/trainer.h"

namespace sluice {
namespace {

const NamedParameter& projection(const Decoder& decoder, int64_t layer, const char* name) {
  const std::string wanted = fmt::format("model.layers.{}.self_attn.{}.weight", layer, name);
  const auto found = std::ranges::find_if(
      decoder.parameters(), [&](const NamedParameter& each) { return each.parameter->name == wanted; });
  SLUICE_ASSERT(found != decoder.parameters().end(), "head_removal: no parameter {}", wanted);
  return *found;
}

void clear_rows(const Parameter& matrix, Range rows) {
  for (int64_t row = rows.begin; row < rows.end; ++row)
    std::ranges::fill_n(matrix.value.data<float>() + row * matrix.value.cols(), matrix.value.cols(), 0.0F);
  matrix.drop_packed();
}

void clear_columns(const Parameter& matrix, Range columns) {
  for (int64_t row = 0; row < matrix.value.rows(); ++row)
    std::ranges::fill_n(matrix.value.data<float>() + row * matrix.value.cols() + columns.begin,
                        columns.end - columns.begin, 0.0F);
  matrix.drop_packed();
}

}  // namespace

void remove_heads(Decoder& decoder, const std::vector<HeadPlace>& heads) {
  const ModelConfig& config = decoder.config();
  if (config.heads != config.kv_heads)
    throw bad_input({.what = "heads that share keys and values cannot be removed one by one"});
  for (const HeadPlace& place : heads) {
    const Range channels{place.head * config.head_dim, (place.head + 1) * config.head_dim};
    clear_rows(*projection(decoder, place.layer, "v_proj").parameter, channels);
    clear_columns(*projection(decoder, place.layer, "o_proj").parameter, channels);
  }
}

void train_on(Engine& engine, Decoder& decoder, const TrainingOn& training) {
  const RunConfig& config = training.config;
  TrainerOptions options = config.trainer;
  options.schedule = {.kind = ScheduleKind::Constant, .peak = training.rate, .steps = training.steps};
  Trainer trainer(engine, decoder, options);
  // Another order than the run's: it has seen the beginning of that one.
  BatchLoader loader(training.sequences,
                     {.batch = config.pass_tokens / config.sequence, .seed = config.seed + 1'000'000});
  for (int64_t step = 0; step < training.steps; ++step) {
    std::vector<Batch> batches;
    for (int64_t passes = config.batch_tokens / config.pass_tokens; passes > 0; --passes)
      batches.push_back(loader.next());
    trainer.step(batches);
  }
}

}  // namespace sluice
