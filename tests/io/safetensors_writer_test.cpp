#include "sluice/io/safetensors_writer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sluice/base/error.h"
#include "sluice/base/file.h"
#include "sluice/base/random.h"
#include "sluice/io/f16.h"
#include "sluice/io/safetensors.h"
#include "tests/base/temporary_directory.h"
#include "tests/io/safetensors_bytes.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

class SafetensorsWriter : public testing::Test {
 protected:
  Tensor random_f32(const Shape& shape) {
    const Tensor tensor = Tensor::empty(pool_, shape, DType::F32);
    Random(3).fill_normal(tensor.values<float>(), 0, 0.0F, 1.0F);
    return tensor;
  }

  Tensor random_bf16(const Shape& shape) {
    const Tensor wide = random_f32(shape);
    const Tensor tensor = Tensor::empty(pool_, shape, DType::BF16);
    for (int64_t i = 0; i < wide.count(); ++i) tensor.data<Bf16>()[i] = to_bf16(wide.data<float>()[i]);
    return tensor;
  }

  // The elements of a tensor of the file, copied to where they are aligned.
  template <class T>
  static std::vector<T> stored(const SafetensorsFile& file, const std::string& name) {
    const auto bytes = file.bytes(name);
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  template <class T>
  static std::vector<T> held(const Tensor& tensor) {
    return {tensor.values<T>().begin(), tensor.values<T>().end()};
  }

  TemporaryDirectory directory_;
  fs::path path_ = directory_.path() / "m.safetensors";
  MemoryPool pool_;
};

TEST_F(SafetensorsWriter, writes_the_bytes_that_the_format_says) {
  const std::vector<float> values = {1.0F, -2.0F};
  const std::vector<TensorOutput> tensors = {
      tensor_output("w", Tensor::from<float>(pool_, {2, 1}, values)),
      tensor_output("a\"b", Tensor::from<float>(pool_, {}, std::span(values).first(1)), StoredType::F16)};
  write_safetensors(path_, tensors, {{"format", "pt"}});
  using namespace std::literals;
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
      R"("a\"b":{"dtype":"F16","shape":[],"data_offsets":[8,10]}})";
  const std::string padding((8 - header.size() % 8) % 8, ' ');
  EXPECT_EQ(read_text(path_, 1000),
            safetensors_bytes(header + padding, "\x00\x00\x80\x3f\x00\x00\x00\xc0\x00\x3c"sv));
}

TEST_F(SafetensorsWriter, gives_back_every_shape_in_the_given_order) {
  const std::vector<Shape> shapes = {{}, {1}, {0}, {7}, {3, 5}, {2, 0, 3}, {1, 3, 5, 7}, {70001}, {257, 513}};
  std::vector<TensorOutput> tensors;
  std::vector<Tensor> values;
  std::vector<std::string> names;
  for (const Shape& shape : shapes) {
    names.push_back(fmt::format("{}.{}", 'z' - names.size(), shape.text()));
    values.push_back(names.size() % 2 == 0 ? random_bf16(shape) : random_f32(shape));
    tensors.push_back(tensor_output(names.back(), values.back()));
  }
  write_safetensors(path_, tensors);
  const SafetensorsFile file(path_);
  EXPECT_EQ(file.names(), names);
  EXPECT_TRUE(file.metadata().empty());
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(file.info(names[i]).shape, shapes[i]);
    if (values[i].dtype() == DType::F32) {
      EXPECT_EQ(stored<float>(file, names[i]), held<float>(values[i])) << names[i];
    } else {
      EXPECT_EQ(stored<Bf16>(file, names[i]), held<Bf16>(values[i])) << names[i];
    }
  }
}

// 70001 elements are more than one chunk.
TEST_F(SafetensorsWriter, converts_while_writing) {
  const Tensor wide = random_f32({70001});
  const Tensor narrow = random_bf16({70001});
  const std::vector<TensorOutput> tensors = {
      tensor_output("bf16", wide, StoredType::BF16), tensor_output("f16", wide, StoredType::F16),
      tensor_output("f32", narrow, StoredType::F32), tensor_output("narrow f16", narrow, StoredType::F16)};
  write_safetensors(path_, tensors);
  const SafetensorsFile file(path_);
  const auto bf16 = stored<Bf16>(file, "bf16");
  const auto f16 = stored<F16>(file, "f16");
  const auto f32 = stored<float>(file, "f32");
  const auto narrow_f16 = stored<F16>(file, "narrow f16");
  for (size_t i = 0; i < 70001; ++i) {
    ASSERT_EQ(bf16[i], to_bf16(wide.values<float>()[i])) << i;
    ASSERT_EQ(f16[i], to_f16(wide.values<float>()[i])) << i;
    ASSERT_EQ(f32[i], to_float(narrow.values<Bf16>()[i])) << i;
    ASSERT_EQ(narrow_f16[i], to_f16(f32[i])) << i;
  }
}

TEST_F(SafetensorsWriter, writes_many_tensors) {
  std::vector<TensorOutput> tensors;
  const Tensor tensor = random_f32({2});
  for (int i = 0; i < 20'000; ++i)
    tensors.push_back(tensor_output(fmt::format("layers.{}.weight", i), tensor));
  write_safetensors(path_, tensors);
  const SafetensorsFile file(path_);
  EXPECT_EQ(file.names().size(), 20'000U);
  EXPECT_EQ(stored<float>(file, "layers.19999.weight"), held<float>(tensor));
}

TEST_F(SafetensorsWriter, asks_for_values_one_tensor_at_a_time) {
  std::vector<TensorOutput> tensors;
  for (const char* name : {"a", "b", "c", "d"}) {
    tensors.push_back(
        {name, {StoredType::F32, Shape{1000}}, [this] { return Tensor::zeros(pool_, {1000}, DType::F32); }});
  }
  write_safetensors(path_, tensors);
  EXPECT_LT(pool_.stats().high_water, 2 * 4000U);
}

TEST_F(SafetensorsWriter, leaves_the_old_file_when_values_fail) {
  write_safetensors(path_, {});
  const std::string old = read_text(path_, 1000);
  const std::vector<TensorOutput> tensors = {
      tensor_output("a", random_f32({100'000})),
      {"b", {StoredType::F32, Shape{1}}, []() -> Tensor { throw failure({.what = "no values"}); }}};
  EXPECT_THROW(write_safetensors(path_, tensors), Error);
  EXPECT_EQ(read_text(path_, 1000), old);
  EXPECT_EQ(directory_.entries(), 1U);
}

TEST_F(SafetensorsWriter, asserts_what_the_caller_must_know) {
  const auto write = [&](std::vector<TensorOutput> tensors) { write_safetensors(path_, tensors); };
  const Tensor tensor = random_f32({2});
  EXPECT_THROW(write({tensor_output("a", tensor), tensor_output("a", tensor)}), AssertionError);
  EXPECT_THROW(write({tensor_output("__metadata__", tensor)}), AssertionError);
  EXPECT_THROW(write({tensor_output("a\n", tensor)}), AssertionError);
  EXPECT_THROW(write({tensor_output("a", tensor, StoredType::I64)}), AssertionError);
  EXPECT_THROW(write({{"a", {StoredType::F32, Shape{3}}, [&] { return tensor; }}}), AssertionError);
  EXPECT_THROW(tensor_output("a", Tensor::zeros(pool_, {1}, DType::I32)), AssertionError);
  EXPECT_EQ(directory_.entries(), 0U);
}

}  // namespace
}  // namespace sluice
