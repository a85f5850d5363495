// Models rewritten in other layouts and element types: what their tests share.
#pragma once

#include <gtest/gtest.h>

#include <map>

#include "sluice/model/conversion.h"
#include "tests/base/temporary_directory.h"
#include "tests/model/model_files.h"
#include "tests/probe/golden.h"

namespace sluice {

using Route = std::vector<GateLayout>;

inline constexpr GateLayout kOfficial = GateLayout::PackedPerGroup;
inline constexpr GateLayout kQwen3Next = GateLayout::PackedPerHead;
inline constexpr GateLayout kSeparate = GateLayout::Separate;

struct StoredTensor {
  StoredType dtype;
  std::string shape;
  std::vector<std::byte> bytes;

  bool operator==(const StoredTensor&) const = default;
};

inline std::map<std::string, StoredTensor> tensors_of(const std::filesystem::path& model) {
  const TensorStore store(model);
  std::map<std::string, StoredTensor> tensors;
  for (const std::string& name : store.names()) {
    const auto bytes = store.bytes(name);
    tensors[name] = {store.info(name).dtype, store.info(name).shape.text(), {bytes.begin(), bytes.end()}};
  }
  return tensors;
}

class Conversions : public testing::Test {
 protected:
  std::filesystem::path path(const std::string& name) const { return directory_.path() / name; }

  std::filesystem::path converted(const std::filesystem::path& model, const Conversion& conversion) {
    const std::filesystem::path out = path("converted" + std::to_string(count_++));
    convert_model(model, out, conversion);
    return out;
  }

  // Through the layouts one after the other.
  std::filesystem::path converted(std::filesystem::path model, const Route& route) {
    for (const GateLayout layout : route) model = converted(model, Conversion{.layout = layout});
    return model;
  }

  Trace traced(const std::filesystem::path& model, const std::vector<int32_t>& ids) {
    return trace({engine_}, *load_model(engine_, model, DType::F32), ids);
  }

  // A directory with random values, also on norms and biases.
  std::filesystem::path random_model(const ModelConfig& config, StoredType dtype = StoredType::F32) {
    MemoryPool pool;
    const Decoder decoder(config);
    const std::filesystem::path out = path("random" + std::to_string(count_++));
    write_model(out, config, random_tensors(decoder, pool, [&](size_t) { return dtype; }));
    return out;
  }

  void expect_same_results(const std::filesystem::path& model, const std::filesystem::path& other) {
    const std::vector<int32_t> ids = {3, 1, 4, 1, 5, 9, 2, 6, 5, 35, 8, 49};
    const Trace expected = traced(model, ids), got = traced(other, ids);
    EXPECT_LE(largest_difference(got.logits, expected.logits.values<float>()), 1e-4);
    EXPECT_LE(largest_difference(got.hidden, expected.hidden.values<float>()), 1e-4);
    EXPECT_LE(largest_difference(got.gates, expected.gates.values<float>()), 1e-5);
  }

  TemporaryDirectory directory_;
  Engine engine_;
  int count_ = 0;
};

}  // namespace sluice
