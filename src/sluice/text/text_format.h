// What a file of text holds, and what its name says about that.
#pragma once

#include <string_view>

namespace sluice {

enum class TextFormat { Plain, JsonLines };  // JsonLines: an object with a "text" per line

// Packed or not. Standard input, "-", has no name that says anything: it is plain.
inline TextFormat format_named(std::string_view path) {
  for (const std::string_view packed : {".gz", ".bz2", ".xz", ".zst"}) {
    if (path.ends_with(packed)) path.remove_suffix(packed.size());
  }
  return path.ends_with(".jsonl") ? TextFormat::JsonLines : TextFormat::Plain;
}

}  // namespace sluice
