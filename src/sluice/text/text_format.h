// What a file of text holds, and what its name says about that.
#pragma once

#include <string_view>

namespace sluice {

enum class TextFormat { Plain, JsonLines };  // JsonLines: an object with a "text" per line

// Gzipped or not. Standard input, "-", has no name that says anything: it is plain.
inline TextFormat format_named(std::string_view path) {
  return path.ends_with(".jsonl") || path.ends_with(".jsonl.gz") ? TextFormat::JsonLines : TextFormat::Plain;
}

}  // namespace sluice
