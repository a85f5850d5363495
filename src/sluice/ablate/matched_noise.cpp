// Shapes: T tokens, D hidden.
#include "sluice/ablate/matched_noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/ablate/run_batch.h"
#include "sluice/base/error.h"
#include "sluice/base/random.h"
#include "sluice/nn/tap_points.h"

namespace sluice {
namespace {

// Streams before a layer, one per sequence of the calibration text, and what attention makes of them.
class LayerStreams {
 public:
  LayerStreams(const LoadedModel& model, std::span<const std::vector<TokenId>> sequences)
      : decoder_(model.decoder()), context_(model.context(nullptr, Packing::Keep)) {
    for (const std::vector<TokenId>& ids : sequences) {
      passes_.push_back(decoder_.begin(context_, Sequences::equal(1, std::ssize(ids))));
      before_.push_back(decoder_.embed(context_, ids));
    }
  }

  // Layers can only be asked for in their order.
  void advance_to(int64_t layer) {
    for (; layer_ < layer; ++layer_)
      for (size_t i = 0; i < before_.size(); ++i)
        before_[i] = decoder_.run(context_, before_[i], passes_[i], {layer_, layer_ + 1}).y;
  }

  // The root mean square over tokens of |change| / |stream| behind the attention of the layer.
  double change(const std::vector<Intervention>& interventions) const {
    const bool shuffles = std::ranges::any_of(interventions, &Intervention::needs_donors);
    double sum = 0;
    int64_t tokens = 0;
    for (size_t i = 0; i < before_.size(); ++i) {
      const Tensor clean = middle(i, nullptr), changed = middle(i, &interventions);
      double of_sequence = 0;
      for (int64_t row = 0; row < clean.rows(); ++row) of_sequence += squared_change(clean, changed, row);
      // A sequence of the calibration text may have drawn itself, which no evaluated one can.
      if (shuffles && of_sequence == 0) continue;
      sum += of_sequence;
      tokens += clean.rows();
    }
    return tokens == 0 ? 0 : std::sqrt(sum / static_cast<double>(tokens));
  }

 private:
  Tensor middle(size_t sequence, const std::vector<Intervention>* changes) const {
    const Pass& pass = passes_[sequence];
    RunBatch probe({{.changes = changes}}, static_cast<int64_t>(sequence));
    probe.begin_pass({.sequences = pass.sequences});
    const LayerCall call{.layer = layer_, .pass = pass};
    return decoder_.block(layer_).middle(context_.with_probe(&probe), before_[sequence], call).y.value();
  }

  static double squared_change(const Tensor& clean, const Tensor& changed, int64_t row) {
    double of_stream = 0, of_change = 0;
    for (int64_t i = row * clean.cols(); i < (row + 1) * clean.cols(); ++i) {
      const double value = clean.data<float>()[i], difference = changed.data<float>()[i] - value;
      of_stream += value * value;
      of_change += difference * difference;
    }
    return of_stream == 0 ? 0 : of_change / of_stream;
  }

  const Decoder& decoder_;
  Context context_;
  int64_t layer_ = 0;
  std::vector<Pass> passes_;
  std::vector<Var> before_;  // [T, D]
};

// Draws of a shuffle differ little in size: the first stands for all.
bool gets_noise(const PlannedRun& run) {
  return (run.group == "layers" || run.group == "heads") && run.layer.has_value() &&
         (run.action != "shuffled" || run.name.ends_with(" 1"));
}

class NoiseWriter {
 public:
  NoiseWriter(const LoadedModel& model, const MatchedNoiseRequest& request)
      : config_(model.config()), request_(request), streams_(model, request.sequences) {}

  void add_controls(const PlannedRun& run, size_t index, std::vector<PlannedRun>& controls) {
    streams_.advance_to(*run.layer);
    std::vector<Intervention> changes = parse_interventions(run.interventions, config_);
    give_calibration(changes, request_.calibration);
    const double size = streams_.change(changes);
    if (!(size > 0) || !std::isfinite(size)) return;
    const Random random = Random(request_.seed).child(index);
    add_at(run, *run.layer, "resid_mid", size, "noise", controls);
    if (config_.layers > 1) {
      const int64_t other = another(*run.layer, config_.layers, random);
      add_at(run, other, "resid_mid", size, fmt::format("noise in layer {}", other), controls);
    }
    if (run.head) add_head_controls(run, size, random.child(1), controls);
  }

 private:
  static int64_t another(int64_t index, int64_t count, const Random& random) {
    const auto other = static_cast<int64_t>(random.below(0, static_cast<uint64_t>(count - 1)));
    return other < index ? other : other + 1;
  }

  void add_at(const PlannedRun& run, int64_t layer, std::string_view point, double size,
              const std::string& what, std::vector<PlannedRun>& controls,
              const std::string& choice = "") const {
    controls.push_back({.name = fmt::format("{} / {}", run.name, what),
                        .group = "controls",
                        .action = "noise",
                        .layer = layer,
                        .interventions = {fmt::format("layers.{}.{} noise={:.6g},{}{}", layer, point, size,
                                                      request_.seed, choice)},
                        .control_of = run.name});
  }

  // The stream's change grows in proportion to the noise, up to norms on the way: one measurement gives the
  // size.
  void add_head_controls(const PlannedRun& run, double size, const Random& random,
                         std::vector<PlannedRun>& controls) const {
    std::vector<int64_t> heads = {*run.head};
    if (config_.heads > 1) heads.push_back(another(*run.head, config_.heads, random));
    for (const int64_t head : heads) {
      const std::string choice = fmt::format(" heads={}", head);
      const std::string unit =
          fmt::format("layers.{}.attn.gated noise=1,{}{}", *run.layer, request_.seed, choice);
      const double of_unit = streams_.change(parse_interventions(std::vector{unit}, config_));
      if (!(of_unit > 0)) continue;  // a head without an output has none to make noise of
      add_at(run, *run.layer, "attn.gated", size / of_unit, fmt::format("noise in head {}", head), controls,
             choice);
      controls.back().head = head;
    }
  }

  const ModelConfig& config_;
  const MatchedNoiseRequest& request_;
  LayerStreams streams_;
};

}  // namespace

double relative_change(const LoadedModel& model, std::span<const std::vector<TokenId>> sequences,
                       const std::vector<Intervention>& interventions, int64_t layer) {
  LayerStreams streams(model, sequences);
  streams.advance_to(layer);
  return streams.change(interventions);
}

void add_matched_noise(AblationPlan& plan, const LoadedModel& model, const MatchedNoiseRequest& request,
                       const JobControl& control) {
  if (request.sequences.empty())
    throw usage_error({.what = "matched noise needs calibration text, and there is none"});
  std::vector<size_t> order;
  for (size_t i = 0; i < plan.runs.size(); ++i)
    if (gets_noise(plan.runs[i])) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](size_t i) { return *plan.runs[i].layer; });
  NoiseWriter writer(model, request);
  std::vector<PlannedRun> controls;
  for (size_t done = 0; done < order.size(); ++done) {
    control.stop_if_cancelled();
    control.report("matched noise", static_cast<int64_t>(done), std::ssize(order));
    writer.add_controls(plan.runs[order[done]], order[done], controls);
  }
  std::ranges::move(controls, std::back_inserter(plan.runs));
  check_plan(plan, model.config());
}

}  // namespace sluice
