// What a plan's runs change: the gates of a gated model, the output of attention of an ungated one. Turns
// words for what is done to it into interventions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/ablate/plan_request.h"

namespace sluice {

class PlanTarget {
 public:
  explicit PlanTarget(const ModelConfig& config);

  bool is_gated() const { return gated_; }
  const std::vector<int64_t>& layers() const { return layers_; }  // that have it
  int64_t heads() const { return heads_; }

  // "closed" of an ungated model is "zeroed". None if it has no counterpart. Usage error for an unknown word.
  std::optional<std::string> action_for(std::string_view action) const;

  // Behind a tap: " set=1".
  std::string change(const std::string& action, uint64_t seed = 0) const;
  std::string constant(double value) const;

  std::string tap() const;                                    // of all layers
  std::string tap(const std::vector<int64_t>& layers) const;  // of some
  // Of a layer, for one head: an ungated model's are at the input of the output projection.
  std::string head_tap(int64_t layer) const;

 private:
  bool gated_;
  std::string point_, head_point_;
  int64_t heads_;
  std::vector<int64_t> layers_;
};

// "0.15", as short as it can be.
std::string number_text(double value);

// "0,3,4"
std::string index_text(const std::vector<int64_t>& indices);

// The runs of the group "controls" for what is in the plan so far (ablate/plan_controls.cpp).
std::vector<PlannedRun> tensor_controls(const AblationPlan& plan, const PlanRequest& request,
                                        const ModelConfig& config);

}  // namespace sluice
