#include "sluice/bench/look.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sluice/analysis/look.h"
#include "sluice/base/median.h"
#include "sluice/base/stopwatch.h"
#include "sluice/base/system.h"
#include "sluice/bench/figures.h"

namespace sluice::bench {
namespace {

constexpr int64_t kChunks = 2;

ChunkedText random_text(const ModelConfig& config, int64_t length) {
  std::vector<TokenId> ids;
  for (int64_t i = 0; i < kChunks * length; ++i)
    ids.push_back(static_cast<TokenId>(
        Random(1).below(static_cast<uint64_t>(i), static_cast<uint64_t>(config.vocabulary))));
  return cut_into_chunks(std::move(ids), {.length = length}, {});
}

}  // namespace

LookCost measure_look(Engine& engine, const ModelRequest& request, const JobControl& control) {
  const LoadedModel model(engine, request.model, {.dtype = request.dtype, .nonfinite = request.nonfinite},
                          control);
  LookCost cost{.model = request.model, .tokens = request.tokens == 0 ? 512 : request.tokens};
  cost.repetitions = request.repetitions;
  cost.weight_bytes = weight_bytes(model.decoder());
  const ChunkedText text = random_text(model.config(), cost.tokens);
  const JobControl quiet{.progress = {}, .cancelled = control.cancelled};
  evaluate(model, {.text = text}, quiet);  // packs the weights
  std::vector<double> evaluations, looks, ratios;
  for (int i = 0; i < request.repetitions; ++i) {
    control.report("repetitions", i, request.repetitions);
    evaluations.push_back(seconds_of([&] { evaluate(model, {.text = text}, quiet); }));
    looks.push_back(seconds_of([&] { look(model, {.text = text}, quiet); }));
    ratios.push_back(looks.back() / evaluations.back());
  }
  const auto tokens = static_cast<double>(kChunks * cost.tokens);
  cost.evaluation = tokens / median(evaluations);
  cost.look = tokens / median(looks);
  cost.ratio = median(ratios);
  cost.resident = peak_resident_bytes();
  return cost;
}

nlohmann::ordered_json to_json(const LookCost& cost) {
  return {{"what", "look"},
          {"model", cost.model.string()},
          {"tokens", cost.tokens},
          {"repetitions", cost.repetitions},
          {"evaluation_tokens_per_s", rounded(cost.evaluation)},
          {"look_tokens_per_s", rounded(cost.look)},
          {"ratio", rounded(cost.ratio)},
          {"weight_bytes", cost.weight_bytes},
          {"peak_resident_bytes", cost.resident}};
}

std::string to_text(const LookCost& cost) {
  const auto resident = static_cast<double>(cost.resident);
  return line("evaluation", fmt::format("{} tokens/s", figure(cost.evaluation))) +
         line("look", fmt::format("{} tokens/s, {:.3f} times the time", figure(cost.look), cost.ratio)) +
         line("memory", fmt::format("{:.2f} GB resident at most, {:.2f} times the weights", resident / 1e9,
                                    resident / static_cast<double>(cost.weight_bytes)));
}

}  // namespace sluice::bench
