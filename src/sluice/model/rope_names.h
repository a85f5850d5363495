// How a config.json names the kinds of rope scaling, for its reader and its writer.
#pragma once

#include "sluice/base/json.h"
#include "sluice/model/config.h"

namespace sluice {

inline constexpr Choice<RopeScalingKind> kRopeKinds[] = {
    {"default", RopeScalingKind::None},      {"linear", RopeScalingKind::Linear},
    {"dynamic", RopeScalingKind::Dynamic},   {"yarn", RopeScalingKind::Yarn},
    {"longrope", RopeScalingKind::LongRope}, {"llama3", RopeScalingKind::Llama3},
    {"su", RopeScalingKind::LongRope}};  // as it was called at first

}  // namespace sluice
