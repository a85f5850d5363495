// What a file of text holds.
#pragma once

namespace sluice {

enum class TextFormat { Plain, JsonLines };  // JsonLines: an object with a "text" per line

}  // namespace sluice
