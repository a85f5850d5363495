// A model whose gates are known without running it: embeddings are one-hot, attention and the feed-forward
// part add nothing, so in every layer a head's gate is a number for each token.
#pragma once

#include <filesystem>
#include <functional>

#include "sluice/infer/loaded_model.h"
#include "tests/base/temporary_directory.h"

namespace sluice {

struct PlantedGates {
  int64_t layers = 2, heads = 2, vocabulary = 16;
  std::function<double(int64_t layer, int64_t head, TokenId token)> gate;  // between 0 and 1
};

// Writes it to the directory.
void write_planted_model(const std::filesystem::path& out, const PlantedGates& gates);

}  // namespace sluice
