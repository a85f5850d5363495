// Sums of products of packed operands on the tile unit.
#pragma once

#include "sluice/kernels/tiles.h"

namespace sluice::amx {

void tile_sums(const TileOperands& args, const TileUnit& unit, float* workspace);

}  // namespace sluice::amx
