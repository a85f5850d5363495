// Which taps of a model patching means. For probe/patch*.cpp alone.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sluice/model/config.h"
#include "sluice/nn/tap_points.h"

namespace sluice {

struct PatchTap {
  TapPoint point;
  int64_t heads = 0;  // 0: it has none
  std::vector<int64_t> layers = {};
};

// In the order of the patterns, each point once. Usage error if one of them means nothing that can be
// patched.
std::vector<PatchTap> patch_taps(std::span<const std::string> patterns, const ModelConfig& config);

}  // namespace sluice
