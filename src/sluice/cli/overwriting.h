// Outputs that would replace what they are made of.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "sluice/base/error.h"

namespace sluice::cli {

// Usage error if `out` is one of the inputs, or a file of a model directory that is one.
inline void refuse_overwriting(const std::string& out, std::span<const std::string> inputs) {
  namespace fs = std::filesystem;
  std::error_code none;  // what cannot be looked at is not the same file
  if (!fs::exists(out, none)) return;
  const fs::path parent = fs::path(out).has_parent_path() ? fs::path(out).parent_path() : fs::path(".");
  const std::string kind = fs::path(out).extension().string();
  const bool of_a_model = kind == ".safetensors" || kind == ".json";
  for (const std::string& input : inputs) {
    if (fs::equivalent(out, input, none) ||
        (of_a_model && fs::is_directory(input, none) && fs::equivalent(parent, input, none))) {
      throw usage_error({.where = "--out", .what = out + " is an input; writing would destroy it"});
    }
  }
}

}  // namespace sluice::cli
