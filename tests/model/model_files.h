// Small model directories for tests, with values that tell every tensor from every other.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "sluice/base/atomic_file.h"
#include "sluice/model/checkpoint_writer.h"
#include "sluice/model/config_writer.h"
#include "sluice/model/decoder.h"
#include "tests/model/small_model.h"

namespace sluice {

// Norms and biases are random, too: those that training starts from are all the same.
inline Tensor random_values(MemoryPool& pool, const Decoder& decoder, size_t parameter) {
  NamedParameter named = decoder.parameters()[parameter];
  named.std = 0.2;
  return initial_values(pool, Threads(1), named, Random(5).child(parameter));
}

inline std::vector<TensorOutput> random_tensors(const Decoder& decoder, MemoryPool& pool,
                                                const std::function<StoredType(size_t)>& type) {
  const auto values = [&](size_t parameter) { return random_values(pool, decoder, parameter); };
  return checkpoint_tensors(decoder, pool, {.values = values, .stored_type = type});
}

// `tensors` and the configuration of the decoder, in a new directory.
inline void write_model(const std::filesystem::path& directory, const ModelConfig& config,
                        const std::vector<TensorOutput>& tensors, const ShardOptions& options = {}) {
  std::filesystem::create_directory(directory);
  write_file_atomically(directory / "config.json", config_json(config).dump());
  write_model_tensors(directory, tensors, options);
}

}  // namespace sluice
