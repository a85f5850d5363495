#include "sluice/ablate/gate_gradients.h"

#include <algorithm>
#include <cmath>

#include "sluice/base/error.h"
#include "sluice/infer/nonfinite_tap.h"
#include "sluice/ops/linear_cross_entropy.h"

namespace sluice {
namespace {

// Rows whose logits exist at once: 512 × 152,064 in f32 are 297 MiB. A usual chunk then takes the output
// layer in one go, which packs it for one product at a time; for several it would be kept packed both ways
// round, twice 0.6 GiB.
constexpr int64_t kLossRows = 512;

// Values from one per gate, one per head or one per channel.
std::vector<float> spread_target(const std::vector<float>& values, const GateSite& site) {
  const auto heads = static_cast<size_t>(site.heads), width = static_cast<size_t>(site.width);
  std::vector<float> all(heads * width);
  for (size_t i = 0; i < all.size(); ++i) {
    const size_t from = values.size() == all.size() ? i : values.size() == heads ? i / width : 0;
    all[i] = values[from];
  }
  return all;
}

std::vector<float> mean_of_site(const GateSite& site, const std::vector<GateMean>& means) {
  const auto found = std::ranges::find_if(
      means, [&](const GateMean& mean) { return mean.tap == site.tap && mean.layer == site.layer; });
  const std::string where = fmt::format("mean of layers.{}.{}", site.layer, site.tap);
  if (found == means.end()) throw usage_error({.where = where, .what = "missing"});
  const std::vector<int64_t> sizes = {1, site.heads, site.heads * site.width};
  if (std::ranges::find(sizes, std::ssize(found->values)) == sizes.end()) {
    throw usage_error({.where = where,
                       .what = "wrong number of values",
                       .expected = fmt::format("{}, {} or {}", sizes[0], sizes[1], sizes[2]),
                       .got = std::to_string(found->values.size())});
  }
  return spread_target(found->values, site);
}

// Sums up what passes, and moves gates along a path if there is one.
class GateGradientProbe : public Probe {
 public:
  explicit GateGradientProbe(const GatePassRequest& request) : request_(request) {
    for (size_t i = 0; i < request.targets.size(); ++i) changes_.emplace_back(request.sites.size());
  }

  bool wants(const TapName& name) const override {
    return (!request_.path || request_.path->tap == name.point) && site_of(name) < request_.sites.size();
  }

  bool wants_gradient(const TapName& name) const override { return wants(name); }

  Tensor visit(const Context& context, const TapName& name, const Tensor& value) override {
    if (!request_.path) return value;
    const std::vector<float>& target = request_.targets.front()->values[site_of(name)];
    const auto share = static_cast<float>(request_.path->share);
    Tensor moved = value.copy(context.engine.pool());
    const auto elements = moved.values<float>();
    for (size_t i = 0; i < elements.size(); ++i)
      elements[i] = (1 - share) * elements[i] + share * target[i % target.size()];
    return moved;
  }

  Tensor receive(const Context& context, const TapName& name, const TapGradient& at) override {
    for (size_t i = 0; i < changes_.size(); ++i) add_changes(i, site_of(name), at);
    if (!request_.path) return at.gradient;
    Tensor passed = at.gradient.copy(context.engine.pool());
    for (float& element : passed.values<float>()) element *= static_cast<float>(1 - request_.path->share);
    return passed;
  }

  std::vector<std::vector<std::vector<double>>> take() { return std::move(changes_); }

 private:
  size_t site_of(const TapName& name) const {
    const auto found = std::ranges::find_if(request_.sites, [&](const GateSite& site) {
      return site.layer == name.layer && site.tap == name.point;
    });
    return static_cast<size_t>(found - request_.sites.begin());
  }

  void add_changes(size_t target, size_t site, const TapGradient& at) {
    const auto heads = static_cast<size_t>(request_.sites[site].heads);
    const auto width = static_cast<size_t>(request_.sites[site].width);
    const std::vector<float>& goal = request_.targets[target]->values[site];
    const auto values = at.value.values<float>(), gradients = at.gradient.values<float>();
    SLUICE_ASSERT(values.size() % goal.size() == 0, "gate gradients: {} values of {} per token",
                  values.size(), goal.size());
    std::vector<double>& sums = changes_[target][site];
    sums.resize(heads);
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t element = i % goal.size();
      sums[element / width] += double{gradients[i]} * (double{goal[element]} - double{values[i]});
    }
  }

  const GatePassRequest& request_;
  std::vector<std::vector<std::vector<double>>> changes_;  // [target][site][head]
};

// The last token predicts nothing that is known, and tokens before the predicted ones do not count.
Tensor targets_of(Engine& engine, const Chunk& chunk) {
  std::vector<int32_t> targets(chunk.ids.begin() + 1, chunk.ids.end());
  std::fill_n(targets.begin(), std::ssize(targets) - chunk.predicted, kIgnoredTarget);
  return Tensor::from<int32_t>(engine.pool(), {std::ssize(targets)}, targets);
}

}  // namespace

std::vector<GateSite> gate_sites(const ModelConfig& config) {
  std::vector<GateSite> sites;
  for (const GatePositionRow& row : kGatePositionRows) {
    for (int64_t layer = 0; layer < config.layers; ++layer) {
      for (const GateSpec& gate : config.gates) {
        if (gate.position != GatePosition(row) || !gate.in_layer(layer)) continue;
        const int64_t heads = config.sizes().gated_heads(gate.position);
        sites.push_back({.tap = std::string(row.tap.name),
                         .layer = layer,
                         .heads = heads,
                         .width = config.sizes().score_count(gate) / heads});
      }
    }
  }
  return sites;
}

GateTargets gate_targets(const std::vector<GateSite>& sites, GateAction action,
                         const std::vector<GateMean>& means) {
  GateTargets targets{.action = action, .values = {}};
  for (const GateSite& site : sites) {
    const float constant = action == GateAction::Open ? 1.0F : 0.0F;
    targets.values.push_back(action == GateAction::Mean ? mean_of_site(site, means)
                                                        : spread_target({constant}, site));
  }
  return targets;
}

GatePass run_gate_pass(const LoadedModel& model, const Chunk& chunk, const GatePassRequest& request) {
  SLUICE_ASSERT(!request.path || request.targets.size() == 1, "gate pass: a path to {} targets",
                request.targets.size());
  const Decoder& decoder = model.decoder();
  const auto inputs = std::span(chunk.ids).first(chunk.ids.size() - 1);
  GateGradientProbe probe(request);
  Tape tape(ParameterGradients::None);
  Context context = model.context(&probe).with_tape(&tape);
  context.activations = request.activations;
  const Var hidden = decoder.forward(context, inputs).y;
  const Var loss = linear_cross_entropy(context, hidden, weight_of(context, decoder.output_weight()),
                                        targets_of(model.engine(), chunk), {.chunk = kLossRows});
  const auto predicted = static_cast<double>(chunk.predicted);
  const double nll = *loss.value().data<float>() * predicted;
  if (!std::isfinite(nll)) {
    throw not_finite("the likelihood of the text is", model.context(), decoder, inputs)
        .inside(model.path().string());
  }
  const Tensor seed = context.empty(loss.shape(), DType::F32);
  *seed.data<float>() = static_cast<float>(predicted);
  tape.backward(context, loss, seed);
  return {.nll = nll, .changes = probe.take()};
}

}  // namespace sluice
