// The product of packed operands on the tile unit.
#pragma once

#include "sluice/kernels/tiles.h"

namespace sluice::amx {

void tile_product(const TileProduct<float>& args, const TileUnit& unit, float* workspace);

}  // namespace sluice::amx
