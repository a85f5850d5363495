#include "sluice/io/tensor_store.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sluice/io/f16.h"
#include "sluice/io/safetensors_shards.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"
#include "tests/io/safetensors_bytes.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

std::vector<float> floats(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

class Store : public testing::Test {
 protected:
  // A model of one tensor "w".
  TensorStore with(const Shape& shape, const std::vector<float>& values, StoredType dtype) {
    fs::remove(directory_.path() / single_file(kModelStem));
    write_model_tensors(directory_.path(),
                        std::vector{tensor_output("w", Tensor::from<float>(pool_, shape, values), dtype)});
    return TensorStore(directory_.path());
  }

  std::string place() const {
    return (directory_.path() / single_file(kModelStem)).string() + ": tensor \"w\": ";
  }

  TemporaryDirectory directory_;
  MemoryPool pool_;
};

TEST_F(Store, reads_every_stored_type_into_both_types_of_tensor) {
  // 1 + 2^-7 is a bf16 value; 1 + 2^-8 lies halfway to its neighbour 1, which is even; f16 has both.
  const std::vector<float> values = {1.0F, -1.0F - 0x1p-7F, 1.0F + 0x1p-8F, 0x1p-24F, -HUGE_VALF};
  const std::vector<float> rounded = {1.0F, -1.0F - 0x1p-7F, 1.0F, 0x1p-24F, -HUGE_VALF};
  for (const StoredType dtype : {StoredType::F32, StoredType::F16, StoredType::BF16}) {
    const TensorStore store = with({5, 1}, values, dtype);
    EXPECT_EQ(store.info("w"), (TensorInfo{dtype, Shape{5, 1}}));
    const Tensor wide = store.read(pool_, "w", {5, 1}, DType::F32);
    EXPECT_EQ(wide.shape(), (Shape{5, 1}));
    EXPECT_EQ(floats(wide), dtype == StoredType::BF16 ? rounded : values);
    const Tensor narrow = store.read(pool_, "w", {5, 1}, DType::BF16);
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ(to_float(narrow.values<Bf16>()[i]), rounded[i]) << i;
  }
}

TEST_F(Store, reads_single_values_and_empty_tensors) {
  EXPECT_EQ(floats(with({}, {3.0F}, StoredType::F16).read(pool_, "w", {}, DType::F32)),
            std::vector<float>{3.0F});
  EXPECT_EQ(with({2, 0}, {}, StoredType::F32).read(pool_, "w", {2, 0}, DType::BF16).count(), 0);
}

TEST_F(Store, keeps_the_bits_of_values_it_does_not_convert) {
  const std::string header = R"({"w":{"dtype":"BF16","shape":[3],"data_offsets":[0,6]}})";
  directory_.file(single_file(kModelStem),
                  safetensors_bytes(header, "\x81\x7f\xff\xff\x01\x80"));  // two are NaNs
  const Tensor tensor = TensorStore(directory_.path()).read(pool_, "w", {3}, DType::BF16);
  EXPECT_EQ(tensor.values<Bf16>()[0].bits, 0x7f81);
  EXPECT_EQ(tensor.values<Bf16>()[1].bits, 0xffff);
  EXPECT_EQ(tensor.values<Bf16>()[2].bits, 0x8001);
}

TEST_F(Store, reads_data_that_is_not_aligned) {
  for (size_t padding = 0; padding < 8; ++padding) {
    using namespace std::literals;
    const std::string header =
        R"({"u":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"w":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}})" +
        std::string(padding, ' ');
    directory_.file(single_file(kModelStem),
                    safetensors_bytes(header, "x\x00\x00\x80\x3f\x00\x00\x00\xc0"sv));
    const TensorStore store(directory_.path());
    EXPECT_EQ(floats(store.read(pool_, "w", {2}, DType::F32)), (std::vector<float>{1.0F, -2.0F}));
    EXPECT_EQ(store.read(pool_, "w", {2}, DType::BF16).values<Bf16>()[1].bits, 0xc000);
  }
}

TEST_F(Store, gathers_rows) {
  const TensorStore store = with({4, 2}, {0, 1, 10, 11, 20, 21, 30, 31}, StoredType::F16);
  const TensorRequest request{.name = "w", .shape = {4, 2}, .dtype = DType::F32};
  const std::vector<RowRange> outer = {{.first = 3, .count = 1}, {.first = 0, .count = 2}};
  const Tensor rows = store.read_rows(pool_, request, outer);
  EXPECT_EQ(rows.shape(), (Shape{3, 2}));
  EXPECT_EQ(floats(rows), (std::vector<float>{30, 31, 0, 1, 10, 11}));
  EXPECT_EQ(store.read_rows(pool_, request, {}).shape(), (Shape{0, 2}));
  EXPECT_THROW(store.read_rows(pool_, request, std::vector<RowRange>{{3, 2}}), AssertionError);
  EXPECT_THROW(store.read_rows(pool_, request, std::vector<RowRange>{{-1, 2}}), AssertionError);
}

TEST_F(Store, gathers_rows_of_vectors_and_of_more_dimensions) {
  const std::vector<RowRange> last = {{.first = 1, .count = 1}};
  EXPECT_EQ(floats(with({2}, {5, 6}, StoredType::F32).read_rows(pool_, {"w", {2}, DType::F32}, last)),
            std::vector<float>{6});
  const Tensor deep = with({2, 1, 2}, {1, 2, 3, 4}, StoredType::F32).read_rows(pool_, {"w", {2, 1, 2}}, last);
  EXPECT_EQ(deep.shape(), (Shape{1, 1, 2}));
  EXPECT_EQ(floats(deep), (std::vector<float>{3, 4}));
}

// A sparse file: no test could wait for 5 GiB to be read, or has the memory.
TEST_F(Store, touches_only_what_is_asked_for) {
  constexpr int64_t kRows = int64_t{5} << 20;
  const std::string header = R"({"w":{"dtype":"F32","shape":[5242880,256],"data_offsets":[0,5368709120]}})";
  const fs::path path = directory_.file(single_file(kModelStem), safetensors_bytes(header, ""));
  std::error_code error;
  fs::resize_file(path, 8 + header.size() + kRows * 1024, error);
  if (error) GTEST_SKIP() << "no large files here: " << error.message();
  const TensorStore store(directory_.path());
  const std::vector<RowRange> last = {{.first = kRows - 1, .count = 1}};
  const Tensor row = store.read_rows(pool_, {"w", {kRows, 256}, DType::F32}, last);
  EXPECT_EQ(floats(row), std::vector<float>(256, 0.0F));
}

TEST_F(Store, refuses_other_shapes_and_missing_tensors) {
  const TensorStore store = with({2, 3}, {1, 2, 3, 4, 5, 6}, StoredType::F32);
  EXPECT_BAD_INPUT(store.read(pool_, "w", {3, 2}, DType::F32),
                   place() + "shape: expected [3, 2], got [2, 3]");
  EXPECT_BAD_INPUT(store.read(pool_, "w", {6}, DType::F32), place() + "shape: expected [6], got [2, 3]");
  EXPECT_BAD_INPUT(store.read_rows(pool_, {"w", {2, 4}, DType::F32}, {}),
                   place() + "shape: expected [2, 4], got [2, 3]");
  EXPECT_BAD_INPUT(store.read(pool_, "v", {6}, DType::F32),
                   directory_.path().string() + ": tensor \"v\": is missing");
  EXPECT_FALSE(store.contains("v"));
  EXPECT_THROW(store.read(pool_, "w", {2, 3}, DType::F64), AssertionError);
}

TEST_F(Store, refuses_types_that_are_no_weights) {
  const std::string header = R"({"w":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})";
  directory_.file(single_file(kModelStem), safetensors_bytes(header, "01234567"));
  const TensorStore store(directory_.path());
  EXPECT_EQ(store.info("w").dtype, StoredType::I64);
  EXPECT_EQ(store.bytes("w").size(), 8U);
  EXPECT_BAD_INPUT(store.read(pool_, "w", {1}, DType::F32),
                   place() + "dtype: expected F32, BF16 or F16, got I64");
}

TEST_F(Store, reads_the_golden_checkpoints) {
  const fs::path path = fs::path(SLUICE_SOURCE_DIR) / "tests/golden/official/tiny_gate_headwise";
  if (!fs::exists(path)) GTEST_SKIP() << path << " is not here";
  const TensorStore store(path);
  const std::string name = "model.layers.1.self_attn.q_proj.weight";
  const Tensor whole = store.read(pool_, name, {36, 32}, DType::F32);
  // Two groups of [2 · 8 query | 2 gate] rows: their gates.
  const std::vector<RowRange> gates = {{.first = 16, .count = 2}, {.first = 34, .count = 2}};
  const Tensor part = store.read_rows(pool_, {name, {36, 32}, DType::F32}, gates);
  for (int64_t i = 0; i < 64; ++i) {
    EXPECT_EQ(part.values<float>()[i], whole.values<float>()[16 * 32 + i]);
    EXPECT_EQ(part.values<float>()[64 + i], whole.values<float>()[34 * 32 + i]);
  }
  EXPECT_TRUE(std::isfinite(part.values<float>()[127]));
}

}  // namespace
}  // namespace sluice
