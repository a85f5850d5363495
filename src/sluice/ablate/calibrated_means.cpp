#include "sluice/ablate/calibrated_means.h"

#include <fmt/format.h>

#include "sluice/ablate/ablation_preparation.h"
#include "sluice/ablate/gate_gradients.h"
#include "sluice/base/assert.h"

namespace sluice {

std::vector<GateMean> calibrated_means(const LoadedModel& model, const ChunkedText& calibration,
                                       const JobControl& control) {
  const std::vector<GateSite> sites = gate_sites(model.config());
  PlannedRun averaged{.name = "means"};
  for (const GateSite& site : sites)
    averaged.interventions.push_back(fmt::format("layers.{}.{} mean", site.layer, site.tap));
  const auto collected = plan_calibration(model, {.runs = {averaged}}, calibration, control);
  std::vector<GateMean> means;
  for (const GateSite& site : sites) {
    const CalibratedTap* tap = collected->find({site.layer, site.tap});
    SLUICE_ASSERT(tap != nullptr, "estimates: no mean of layers.{}.{}", site.layer, site.tap);
    GateMean& mean = means.emplace_back(GateMean{.tap = site.tap, .layer = site.layer, .values = {}});
    for (int64_t i = 0; i < site.heads * site.width; ++i)
      mean.values.push_back(static_cast<float>(tap->mean(i)));
  }
  return means;
}

}  // namespace sluice
