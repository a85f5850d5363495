#include "sluice/experiment/experiment_breaking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sluice/ablate/head_removal.h"
#include "sluice/analysis/look.h"
#include "sluice/data/held_out.h"
#include "sluice/eval/calibration_text.h"
#include "sluice/experiment/statistics.h"
#include "sluice/probe/calibration.h"
#include "sluice/probe/intervention.h"
#include "sluice/train/run.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kCalibrationSequences = kBrokenSequences / 4;  // behind those that are measured
constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();
constexpr BrokenRun::Effect kNothingToChange = {kNotMeasured, kNotMeasured};
constexpr BrokenRun::Effect kBeyondNumbers = {std::numeric_limits<double>::infinity(), kNotMeasured};

std::vector<double> losses_of(const std::vector<ChunkNll>& chunks) {
  std::vector<double> losses;
  for (const ChunkNll& chunk : chunks) losses.push_back(chunk.sum / static_cast<double>(chunk.tokens));
  return losses;
}

std::vector<double> loss_differences(const std::vector<double>& broken, const std::vector<double>& whole) {
  std::vector<double> values;
  for (size_t i = 0; i < broken.size(); ++i) values.push_back(broken[i] - whole[i]);
  return values;
}

// A run's last weights with the text that it kept out, measured and calibration sequences apart.
class BrokenModel {
 public:
  BrokenModel(Engine& engine, const fs::path& run, const JobControl& control)
      : model_(engine, run / "latest"), control_(control) {
    const ChunkedText all =
        read_chunks(model_, HeldOutText{}, {.at_most = kBrokenSequences + kCalibrationSequences}, control);
    // The same shares of a text that has fewer.
    const int64_t measured = std::max<int64_t>(1, all.chunks() * 4 / 5);
    const std::vector<std::vector<TokenId>> fed = fed_sequences(all);
    calibration_.assign(fed.begin() + measured, fed.end());
    text_ = read_chunks(model_, HeldOutText{}, {.at_most = measured}, control);
    whole_ = look_under({});
    losses_ = losses_of(whole_.chunks);
  }

  const ModelConfig& config() const { return model_.config(); }
  const Look& whole() const { return whole_; }
  const ChunkedText& text() const { return text_; }

  BrokenRun::Effect effect_of(const NamedChanges& intervention) const {
    try {
      const Look broken = look_under(intervention.changes);
      return {.loss = mean_interval(loss_differences(losses_of(broken.chunks), losses_)).mean,
              .sink = broken.sink.value};
    } catch (const InfinitePerplexity&) {
      return kBeyondNumbers;
    } catch (const Error& error) {
      throw error.inside(fmt::format("breaking by \"{}\"", intervention.name));
    }
  }

  // Those whose closing costs less than that, by the upper end of a 95 % interval over sequences.
  std::vector<HeadPlace> heads_without_effect(double equal_loss) const {
    std::vector<HeadPlace> heads;
    for (int64_t layer = 0; layer < config().layers; ++layer)
      for (int64_t head = 0; head < config().heads; ++head)
        if (closing_costs_less({layer, head}, equal_loss)) heads.push_back({layer, head});
    return heads;
  }

 private:
  bool closing_costs_less(const HeadPlace& place, double equal_loss) const {
    const EvaluationRequest closed{
        .text = text_,
        .interventions = parse_interventions(
            std::vector{fmt::format("layers.{}.attn.gated set=0 heads={}", place.layer, place.head)},
            config())};
    try {
      const MeanInterval cost =
          mean_interval(loss_differences(losses_of(evaluate(model_, closed, control_).chunks), losses_));
      return cost.mean + cost.half_width.value_or(equal_loss) < equal_loss;
    } catch (const InfinitePerplexity&) {
      return false;
    }
  }

  Look look_under(const std::vector<std::string>& interventions) const {
    LookRequest request{.text = text_, .interventions = parse_interventions(interventions, config())};
    if (std::ranges::any_of(request.interventions, &Intervention::needs_calibration))
      give_calibration(
          request.interventions,
          calibrate(model_.context(), model_.decoder(),
                    {.interventions = request.interventions, .sequences = calibration_}, control_));
    return look(model_, request, control_);
  }

  LoadedModel model_;
  const JobControl& control_;
  std::vector<std::vector<TokenId>> calibration_;
  ChunkedText text_;
  Look whole_;
  std::vector<double> losses_;  // of the whole model, by sequence
};

double gate_with_sink(const Look& look) {
  double sum = 0, heads = 0;
  for (const GateLayerRelations& layer : look.relations) {
    for (const GateHeadRelations& head : layer.by_head) {
      const double correlation = head.correlation(GateRelation::KeyAttention);
      if (!std::isfinite(correlation)) continue;
      sum += correlation;
      ++heads;
    }
  }
  return heads == 0 ? kNotMeasured : sum / heads;
}

// Weights that may be changed: those of a file are only mapped.
std::unique_ptr<Decoder> own_weights(Engine& engine, const fs::path& run) {
  std::unique_ptr<Decoder> decoder = load_model(engine, run / "latest", DType::F32);
  for (const NamedParameter& each : decoder->parameters())
    each.parameter->value = each.parameter->value.copy(engine.pool());
  return decoder;
}

double loss_on(Engine& engine, const Decoder& decoder, const ChunkedText& text) {
  decoder.drop_packed_weights();
  double sum = 0;
  for (int64_t i = 0; i < text.chunks(); ++i) {
    const ChunkNll nll = chunk_nll({.engine = engine}, decoder, text.chunk(i));
    sum += nll.sum / static_cast<double>(nll.tokens);
  }
  return sum / static_cast<double>(text.chunks());
}

TrainingOn training_after(const BreakingRequest& request) {
  const RunConfig config = load_run_config((request.run / "config.json").string(), {});
  std::vector<TokenShard> shards;
  for (const HeldOut::File& file : read_held_out(request.run).files) shards.emplace_back(file.path);
  return {.config = config,
          .sequences = text_of(config, shards).training,
          .steps = request.plan.train_on,
          .rate = request.plan.rate};
}

// One that is no number any more has been lost beyond all numbers; beside a whole model that has been lost
// itself nothing is measured.
double change_of_loss(double changed, double whole) {
  if (!std::isfinite(whole)) return kNotMeasured;
  return std::isfinite(changed) ? changed - whole : std::numeric_limits<double>::infinity();
}

void remove_and_train_on(Engine& engine, const BreakingRequest& request, const BrokenModel& model,
                         BrokenRun& broken) {
  const std::vector<HeadPlace> heads = model.heads_without_effect(request.equal_loss);
  broken.removed = std::ssize(heads);
  const auto whole = own_weights(engine, request.run), pruned = own_weights(engine, request.run);
  remove_heads(*pruned, heads);
  broken.removed_loss =
      change_of_loss(loss_on(engine, *pruned, model.text()), loss_on(engine, *whole, model.text()));
  if (request.plan.train_on == 0) return;
  const TrainingOn training = training_after(request);
  train_on(engine, *whole, training);
  train_on(engine, *pruned, training);
  broken.trained_on_loss =
      change_of_loss(loss_on(engine, *pruned, model.text()), loss_on(engine, *whole, model.text()));
}

}  // namespace

BrokenRun break_run(Engine& engine, const BreakingRequest& request, const JobControl& control) {
  const BrokenModel model(engine, request.run, control);
  BrokenRun broken{.sequences = model.text().chunks(),
                   .sink = model.whole().sink.value,
                   .gate_with_sink = gate_with_sink(model.whole()),
                   .heads = model.config().layers * model.config().heads,
                   .removed_loss = kNotMeasured,
                   .trained_on_loss = kNotMeasured};
  for (size_t i = 0; i < request.plan.interventions.size(); ++i)
    broken.effects.push_back(request.can_be_given[i] ? model.effect_of(request.plan.interventions[i])
                                                     : kNothingToChange);
  if (model.config().heads == model.config().kv_heads) remove_and_train_on(engine, request, model, broken);
  return broken;
}

}  // namespace sluice
