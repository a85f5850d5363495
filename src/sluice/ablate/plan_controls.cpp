// Controls on what is not a gate: the same change, made to another tensor of the layer or of another one.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sluice/ablate/plan_target.h"
#include "sluice/base/random.h"
#include "sluice/nn/gate_position.h"

namespace sluice {
namespace {

// What both branches of a block see and what they add.
constexpr std::array<std::string_view, 4> kControlPoints = {"attn.out", "mlp.out", "attn.input", "mlp.input"};

struct ControlChange {
  std::string change, action;
};

// None if the run has no counterpart on a tensor that is not a gate.
std::optional<ControlChange> control_change(const PlannedRun& run, const PlanRequest& request) {
  if (run.action == "closed" || run.action == "zeroed") return ControlChange{"scale=0", "zeroed"};
  if (run.action == "mean") return ControlChange{"mean", "mean"};
  if (run.action == "shuffled") {
    const std::string& text = run.interventions.front();
    return ControlChange{text.substr(text.find("shuffle")), "shuffled"};
  }
  const auto layer = static_cast<size_t>(*run.layer);
  if (run.action == "open" && layer < request.gate_means.size() && request.gate_means[layer] > 0) {
    const std::string factor = fmt::format("{:.4g}", 1 / request.gate_means[layer]);
    return ControlChange{"scale=" + factor, "scaled by " + factor};
  }
  return {};
}

struct ControlPlace {
  int64_t layer;
  std::string_view point;

  bool operator==(const ControlPlace&) const = default;
};

// A gate on keys or queries: closed, it makes all scores equal and leaves values as they are.
bool gates_scores(const std::optional<std::string>& gate) {
  const GatePositionRow* row = gate ? gate_row_at(*gate) : nullptr;
  return row != nullptr && row->normed_and_rotated;
}

// Where the change is another one than the run itself, and than each other. Zeros at the input of a part are
// zeros at its output, but for biases; and so is a closed gate on values, on what attention mixes of them or
// on what it adds. Of a whole other sequence's input a part makes that sequence's output.
std::vector<std::string_view> control_points(const ControlChange& change, const ModelConfig& config) {
  const std::optional<std::string> gate = gate_tap(config);
  std::vector<std::string_view> points(kControlPoints.begin(), kControlPoints.end());
  if (!gate) std::erase(points, "attn.out");
  if (change.action == "shuffled") {
    std::erase(points, "attn.input");
    std::erase(points, "mlp.input");
  }
  if (change.action != "zeroed") return points;
  std::erase(points, "mlp.input");
  if (config.qkv_bias || config.o_bias) return points;
  std::erase(points, "attn.input");
  if (!gates_scores(gate)) std::erase(points, "attn.out");
  return points;
}

PlannedRun control_at(const PlannedRun& run, const ControlPlace& place, const ControlChange& change,
                      const std::string& what) {
  return {.name = fmt::format("{} / {}", run.name, what),
          .group = "controls",
          .action = change.action,
          .layer = place.layer,
          .interventions = {fmt::format("layers.{}.{} {}", place.layer, place.point, change.change)},
          .control_of = run.name};
}

}  // namespace

std::vector<PlannedRun> tensor_controls(const AblationPlan& plan, const PlanRequest& request,
                                        const ModelConfig& config) {
  std::vector<PlannedRun> controls;
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const PlannedRun& run = plan.runs[i];
    if (run.group != "layers") continue;
    const std::optional<ControlChange> change = control_change(run, request);
    if (!change) continue;
    // In another layer, too, only what is not that layer's gate by construction.
    const std::vector<std::string_view> points = control_points(*change, config);
    std::vector<ControlPlace> others;
    for (int64_t layer = 0; layer < config.layers; ++layer)
      for (const std::string_view point : points)
        if (layer != *run.layer) others.push_back({layer, point});
    for (const std::string_view point : points)
      controls.push_back(control_at(run, {*run.layer, point}, *change, std::string(point)));
    if (others.empty()) continue;
    const ControlPlace& other = others[Random(request.seed).child(i).below(0, others.size())];
    controls.push_back(
        control_at(run, other, *change, fmt::format("random: layer {} {}", other.layer, other.point)));
  }
  return controls;
}

}  // namespace sluice
