#include "sluice/infer/generator.h"

#include "sluice/base/stopwatch.h"
#include "sluice/infer/nonfinite_tap.h"

namespace sluice {

std::span<const float> Generator::advance(std::span<const int32_t> ids) {
  const Var hidden = decoder_.forward(context_, ids, &state_).y;
  // Only the last token's logits are needed: one row of the output layer instead of all.
  const auto width = static_cast<size_t>(hidden.cols());
  const Tensor last = Tensor::from<float>(context_.engine.pool(), {1, hidden.cols()},
                                          hidden.value().values<float>().last(width));
  // To a probe that one row is a pass of its own, at the place where it stands in the text.
  if (context_.probe != nullptr) {
    context_.probe->begin_pass({Sequences::equal(1, 1), state_.tokens - 1});
  }
  logits_ = decoder_.logits(context_, Var(last)).value();
  return logits_.values<float>();
}

void Generator::check_finite(std::span<const int32_t> prompt, std::span<const int32_t> added) const {
  if (is_finite(logits_)) return;
  std::vector<int32_t> ids(prompt.begin(), prompt.end());
  ids.insert(ids.end(), added.begin(), added.end());
  throw not_finite("the logits are", context_, decoder_, ids);
}

Generation Generator::generate(std::span<const int32_t> prompt, const GenerateOptions& options,
                               const std::function<bool(int32_t)>& arrived) {
  SLUICE_ASSERT(!prompt.empty(), "generate: an empty prompt");
  Generation generation;
  state_ = decoder_.make_state(context_, static_cast<int64_t>(prompt.size()) + options.max_tokens);
  Sampler sampler(options.sampler);
  Stopwatch stopwatch;
  std::span<const float> logits = advance(prompt);
  generation.prompt_seconds = stopwatch.lap();
  while (static_cast<int64_t>(generation.ids.size()) < options.max_tokens) {
    check_finite(prompt, generation.ids);
    const int32_t id = sampler.next(logits);
    if (options.stop.contains(id)) {
      generation.stopped_by = id;
      break;
    }
    generation.ids.push_back(id);
    if (arrived && !arrived(id)) break;
    if (static_cast<int64_t>(generation.ids.size()) == options.max_tokens) break;
    logits = advance({&id, 1});
  }
  generation.decode_seconds = stopwatch.seconds();
  return generation;
}

}  // namespace sluice
