// PNG files of our own making: the same bytes on every machine, since no library compresses them
// (docs/decisions/0003-figures.md).
#pragma once

#include <string>
#include <string_view>

#include "sluice/plot/canvas.h"

namespace sluice {

std::string encoded_png(const IndexedImage& image);

std::string base64(std::string_view bytes);

}  // namespace sluice
