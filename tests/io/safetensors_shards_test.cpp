#include "sluice/io/safetensors_shards.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sluice/base/file.h"
#include "sluice/io/tensor_store.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

class Shards : public testing::Test {
 protected:
  // Tensor "t<i>" of `counts[i]` floats, each of value i.
  std::vector<TensorOutput> outputs(std::vector<int64_t> counts) {
    std::vector<TensorOutput> tensors;
    for (size_t i = 0; i < counts.size(); ++i) {
      const std::vector<float> values(static_cast<size_t>(counts[i]), static_cast<float>(i));
      tensors.push_back(
          tensor_output("t" + std::to_string(i), Tensor::from<float>(pool_, {counts[i]}, values)));
    }
    return tensors;
  }

  bool exists(const char* name) const { return fs::exists(directory_.path() / name); }
  const fs::path& directory() const { return directory_.path(); }

  TemporaryDirectory directory_;
  MemoryPool pool_;
};

TEST_F(Shards, a_small_model_is_one_file) {
  write_model_tensors(directory(), outputs({2, 3}));
  EXPECT_TRUE(exists("model.safetensors"));
  EXPECT_EQ(directory_.entries(), 1U);
  const SafetensorsFile file(directory() / "model.safetensors");
  EXPECT_EQ(file.metadata().at("format"), "pt");
}

TEST_F(Shards, a_model_without_tensors_is_one_file) {
  write_model_tensors(directory(), {});
  EXPECT_TRUE(TensorStore(directory()).names().empty());
}

TEST_F(Shards, files_are_filled_in_order_and_indexed) {
  write_model_tensors(directory(), outputs({2, 1, 1, 5, 0, 1, 3}), {.max_bytes = 16});
  EXPECT_EQ(read_text(directory() / "model.safetensors.index.json", 10'000), R"({
  "metadata": {
    "total_size": 52
  },
  "weight_map": {
    "t0": "model-00001-of-00003.safetensors",
    "t1": "model-00001-of-00003.safetensors",
    "t2": "model-00001-of-00003.safetensors",
    "t3": "model-00002-of-00003.safetensors",
    "t4": "model-00003-of-00003.safetensors",
    "t5": "model-00003-of-00003.safetensors",
    "t6": "model-00003-of-00003.safetensors"
  }
}
)");
  EXPECT_EQ(directory_.entries(), 4U);
  const TensorStore store(directory());
  EXPECT_EQ(store.names(), (std::vector<std::string>{"t0", "t1", "t2", "t3", "t4", "t5", "t6"}));
  const Tensor t6 = store.read(pool_, "t6", {3}, DType::F32);
  EXPECT_EQ(t6.values<float>()[2], 6.0F);
}

TEST_F(Shards, a_directory_with_a_model_is_refused) {
  write_model_tensors(directory(), outputs({1}));
  const std::string hint = " (remove it or name another directory)";
  EXPECT_ERROR(write_model_tensors(directory(), outputs({2, 2}), {.max_bytes = 8}), ErrorKind::Failed,
               (directory() / "model.safetensors").string() +
                   ": cannot write: the directory already holds a model" + hint);
  EXPECT_EQ(directory_.entries(), 1U);
}

TEST_F(Shards, a_failure_midway_leaves_nothing) {
  std::vector<TensorOutput> tensors = outputs({2, 2, 2});
  tensors[2].values = []() -> Tensor { throw failure({.what = "no values"}); };
  EXPECT_THROW(write_model_tensors(directory(), tensors, {.max_bytes = 8}), Error);
  EXPECT_EQ(directory_.entries(), 0U);
}

// As if the machine were switched off while the last shard is written.
TEST_F(Shards, a_killed_writer_leaves_nothing_that_loads_and_can_be_repeated) {
  std::vector<TensorOutput> tensors = outputs({2, 2, 2});
  const pid_t child = ::fork();
  if (child == 0) {
    tensors[2].values = []() -> Tensor { ::_exit(7); };
    write_model_tensors(directory(), tensors, {.max_bytes = 8});
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(WEXITSTATUS(status), 7);
  EXPECT_TRUE(exists("model-00002-of-00003.safetensors"));
  EXPECT_BAD_INPUT(TensorStore(directory()),
                   directory().string() +
                       ": expected a model directory with model.safetensors or model.safetensors.index.json, "
                       "got neither");
  write_model_tensors(directory(), tensors, {.max_bytes = 8});
  EXPECT_EQ(TensorStore(directory()).names().size(), 3U);
}

TEST_F(Shards, names_must_differ_across_files) {
  std::vector<TensorOutput> tensors = outputs({2, 2});
  tensors[1].name = "t0";
  EXPECT_THROW(write_model_tensors(directory(), tensors, {.max_bytes = 8}), AssertionError);
  EXPECT_EQ(directory_.entries(), 0U);
}

}  // namespace
}  // namespace sluice
