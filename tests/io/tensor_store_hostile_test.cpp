// Model directories whose index lies about its files.
#include <gtest/gtest.h>

#include <algorithm>

#include "sluice/io/tensor_store.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"
#include "tests/io/safetensors_bytes.h"

namespace sluice {
namespace {

class HostileStore : public testing::Test {
 protected:
  // A file with one-byte tensors of these names, in this order.
  void shard(const std::string& file, const std::vector<std::string>& tensors) {
    std::string header;
    for (size_t i = 0; i < tensors.size(); ++i) {
      header += (i == 0 ? "" : ",") + ("\"" + tensors[i]) +
                R"(":{"dtype":"U8","shape":[1],"data_offsets":[)" + std::to_string(i) + "," +
                std::to_string(i + 1) + "]}";
    }
    directory_.file(file, safetensors_bytes("{" + header + "}", std::string(tensors.size(), 'x')));
  }

  void index(const std::string& weight_map) {
    directory_.file("model.safetensors.index.json", R"({"metadata":{},"weight_map":)" + weight_map + "}");
  }

  TensorStore open() const { return TensorStore(directory_.path()); }
  std::string at(const std::string& file) const { return (directory_.path() / file).string() + ": "; }

  TemporaryDirectory directory_;
};

TEST_F(HostileStore, an_honest_index_is_accepted) {
  shard("1.safetensors", {"b", "a"});
  shard("2.safetensors", {"c"});
  index(R"({"a":"1.safetensors","b":"1.safetensors","c":"2.safetensors"})");
  EXPECT_EQ(open().names(), (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(open().file_name("c"), (directory_.path() / "2.safetensors").string());
}

TEST_F(HostileStore, names_that_are_not_plain_are_refused) {
  shard("1.safetensors", {"a"});
  const std::string place = at("model.safetensors.index.json");
  const std::string expected = "expected the plain name of a .safetensors file in this directory, got ";
  for (const std::string name :
       {R"("../1.safetensors")", R"("/etc/passwd")", R"("/tmp/1.safetensors")", R"("sub/1.safetensors")",
        R"("..")", R"("")", R"(".")", R"("a..safetensors")", R"("1.bin")", R"("1.safetensors\u0000")",
        R"("..\\1.safetensors")", R"("1\n.safetensors")", "1", "null", R"(["1.safetensors"])"}) {
    index(R"({"a":)" + name + "}");
    try {
      static_cast<void>(open());
      ADD_FAILURE() << name << " was accepted";
    } catch (const Error& error) {
      const std::string line = error.what();
      EXPECT_EQ(error.kind(), ErrorKind::BadInput);
      EXPECT_TRUE(line.starts_with(place + "weight_map: tensor \"a\": " + expected)) << line;
      EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 0);
    }
  }
}

TEST_F(HostileStore, index_and_shards_must_agree) {
  shard("1.safetensors", {"a"});
  shard("2.safetensors", {"b", "c"});
  index(R"({"a":"1.safetensors","b":"2.safetensors"})");
  EXPECT_BAD_INPUT(open(),
                   at("2.safetensors") + "tensor \"c\": is not listed in model.safetensors.index.json");
  index(R"({"a":"1.safetensors","b":"2.safetensors","c":"1.safetensors"})");
  EXPECT_BAD_INPUT(open(), at("2.safetensors") +
                               "tensor \"c\": model.safetensors.index.json says that it is in 1.safetensors");
  index(R"({"a":"1.safetensors","b":"2.safetensors","c":"2.safetensors","d":"1.safetensors"})");
  EXPECT_BAD_INPUT(open(),
                   at("1.safetensors") +
                       "tensor \"d\": is missing, but model.safetensors.index.json says that it is here");
}

TEST_F(HostileStore, a_tensor_in_two_shards_is_refused) {
  shard("1.safetensors", {"a"});
  shard("2.safetensors", {"a", "b"});
  index(R"({"a":"1.safetensors","b":"2.safetensors"})");
  EXPECT_BAD_INPUT(open(), at("2.safetensors") +
                               "tensor \"a\": model.safetensors.index.json says that it is in 1.safetensors");
}

TEST_F(HostileStore, a_missing_or_damaged_shard_is_named) {
  index(R"({"a":"1.safetensors"})");
  EXPECT_BAD_INPUT(open(), at("1.safetensors") + "cannot open: No such file or directory");
  directory_.file("1.safetensors", "");
  EXPECT_BAD_INPUT(open(),
                   at("1.safetensors") + "not a safetensors file: expected at least 8 bytes, got 0 bytes");
  std::filesystem::remove(directory_.path() / "1.safetensors");
  std::filesystem::create_directory(directory_.path() / "1.safetensors");
  EXPECT_BAD_INPUT(open(), at("1.safetensors") + "expected a file, got a directory (name a file inside it)");
}

TEST_F(HostileStore, the_index_must_be_an_object_with_a_map) {
  const std::string place = at("model.safetensors.index.json");
  directory_.file("model.safetensors.index.json", "{}");
  EXPECT_BAD_INPUT(open(), place + "weight_map: required key is missing");
  directory_.file("model.safetensors.index.json", "[]");
  EXPECT_BAD_INPUT(open(), place + "expected object, got an empty array");
  index("[]");
  EXPECT_BAD_INPUT(open(), place + "weight_map: expected object, got an empty array");
  index(R"({"a":"1.safetensors","a":"2.safetensors"})");
  EXPECT_BAD_INPUT(open(), place + "weight_map.a: duplicate key");
  index(std::string(100, '['));
  EXPECT_BAD_INPUT(open(), place + "nested deeper than 8 levels");
}

TEST_F(HostileStore, it_must_be_clear_which_files_are_meant) {
  const std::string expected =
      directory_.path().string() +
      ": expected a model directory with model.safetensors or model.safetensors.index.json, got ";
  EXPECT_BAD_INPUT(open(), expected + "neither");
  shard("model.safetensors", {"a"});
  index("{}");
  EXPECT_BAD_INPUT(open(), expected + "both (remove the one that is not meant)");
  EXPECT_THROW(TensorStore(directory_.path() / "none"), Error);
  EXPECT_THROW(TensorStore(directory_.path() / "model.safetensors"), Error);
  EXPECT_THROW(TensorStore(std::string(10'000, 'n')), Error);
}

}  // namespace
}  // namespace sluice
