#include "sluice/io/safetensors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"
#include "tests/io/safetensors_bytes.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

TEST(SafetensorsFile, lists_tensors_in_the_order_of_their_data) {
  const TemporaryDirectory directory;
  const fs::path path = directory.file(
      "a.safetensors",
      safetensors_bytes(
          R"({"a":{"dtype":"F32","shape":[1,2],"data_offsets":[2,10]},"__metadata__":{"k":"v"},)"
          R"("z":{"dtype":"BF16","shape":[],"data_offsets":[0,2]}}   )",
          "zzaaaabbbb"));
  const SafetensorsFile file(path);
  EXPECT_EQ(file.names(), (Names{"z", "a"}));
  EXPECT_TRUE(file.contains("a"));
  EXPECT_FALSE(file.contains("__metadata__"));
  EXPECT_EQ(file.info("a"), (TensorInfo{StoredType::F32, Shape{1, 2}}));
  EXPECT_EQ(file.info("z"), (TensorInfo{StoredType::BF16, Shape{}}));
  EXPECT_EQ(file.metadata(), (SafetensorsMetadata{{"k", "v"}}));
  const auto bytes = file.bytes("a");
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "aaaabbbb");
  EXPECT_BAD_INPUT(file.info("b"), path.string() + ": tensor \"b\": is missing");
}

TEST(SafetensorsFile, may_be_empty_or_hold_empty_tensors) {
  EXPECT_TRUE(parse_header(safetensors_bytes("{}", "")).tensors.empty());
  const SafetensorsHeader header =
      parse_header(safetensors_bytes(R"({"b":{"dtype":"F32","shape":[0],"data_offsets":[1,1]},)"
                                     R"("a":{"dtype":"F16","shape":[3,0,2],"data_offsets":[1,1]},)"
                                     R"("c":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                                     "x"));
  ASSERT_EQ(header.tensors.size(), 3U);
  EXPECT_EQ(header.tensors[0].name, "c");
  EXPECT_EQ(header.tensors[1].name, "a");
  EXPECT_EQ(header.tensors[2].info.bytes(), 0U);
}

TEST(SafetensorsFile, lists_types_that_cannot_be_read) {
  for (const auto& [name, size] : std::vector<std::pair<std::string, size_t>>{
           {"BOOL", 1},
           {"U8", 1},
           {"I8", 1},
           {"F8_E4M3", 1},
           {"F8_E5M2", 1},
           {"F8_E8M0", 1},
           {"U16", 2},
           {"I16", 2},
           {"F16", 2},
           {"BF16", 2},
           {"U32", 4},
           {"I32", 4},
           {"F32", 4},
           {"U64", 8},
           {"I64", 8},
           {"F64", 8},
           {"C64", 8},
       }) {
    const std::string header =
        fmt::format(R"({{"t":{{"dtype":"{}","shape":[3],"data_offsets":[0,{}]}}}})", name, 3 * size);
    const TensorInfo info =
        parse_header(safetensors_bytes(header, std::string(3 * size, 'x'))).tensors[0].info;
    EXPECT_EQ(name_of(info.dtype), name);
    EXPECT_EQ(size_of(info.dtype), size);
  }
}

TEST(SafetensorsFile, takes_names_of_any_length_and_script) {
  const std::string name = fmt::format("{:n>5000}ä漢", "");
  const SafetensorsHeader header = parse_header(
      safetensors_bytes(R"({")" + name + R"(":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "x"));
  EXPECT_EQ(header.tensors[0].name, name);
}

TEST(SafetensorsFile, shortens_absurd_names_in_messages) {
  EXPECT_EQ(tensor_place("f", "model.norm.weight"), "f: tensor \"model.norm.weight\"");
  EXPECT_EQ(tensor_place("f", std::string(1000, 'n')), "f: tensor \"" + std::string(160, 'n') + "...\"");
  EXPECT_EQ(tensor_place("f", "\xff\n\u202e"), R"(f: tensor "\ufffd\n\u202e")");
}

// What the three checkpoints of the official code hold.
struct Golden {
  std::string name;
  int64_t query_rows;  // of q_proj, gate included
  int64_t gate_width;  // of the expected gates; 0: none
};

class GoldenFiles : public testing::TestWithParam<Golden> {};

TEST_P(GoldenFiles, parse_and_list_what_is_expected) {
  const fs::path directory = fs::path(SLUICE_SOURCE_DIR) / "tests/golden/official" / GetParam().name;
  if (!fs::exists(directory)) GTEST_SKIP() << directory << " is not here";
  const SafetensorsFile model(directory / "model.safetensors");
  EXPECT_EQ(model.names().size(), 35U);
  EXPECT_EQ(model.names().front(), "model.embed_tokens.weight");
  EXPECT_EQ(model.names().back(), "model.norm.weight");
  EXPECT_EQ(model.info("model.layers.2.self_attn.q_proj.weight"),
            (TensorInfo{StoredType::F32, Shape{GetParam().query_rows, 32}}));
  EXPECT_EQ(model.bytes("model.norm.weight").size(), 128U);

  const SafetensorsFile expected(directory / "expected.safetensors");
  EXPECT_EQ(expected.info("input_ids"), (TensorInfo{StoredType::I64, Shape{24}}));
  EXPECT_EQ(expected.info("logits"), (TensorInfo{StoredType::F32, Shape{24, 128}}));
  EXPECT_EQ(expected.info("hidden").shape, (Shape{4, 24, 32}));
  EXPECT_EQ(expected.info("attn").shape, (Shape{3, 4, 24, 24}));
  EXPECT_EQ(expected.contains("gates"), GetParam().gate_width > 0);
  if (expected.contains("gates")) {
    EXPECT_EQ(expected.info("gates").shape, (Shape{3, 24, 4, GetParam().gate_width}));
  }
}

INSTANTIATE_TEST_SUITE_P(Official, GoldenFiles,
                         testing::Values(Golden{"tiny_baseline", 32, 0}, Golden{"tiny_gate_headwise", 36, 1},
                                         Golden{"tiny_gate_elementwise", 64, 8}),
                         [](const auto& golden) { return golden.param.name; });

}  // namespace
}  // namespace sluice
