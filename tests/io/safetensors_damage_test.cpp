// A good file, cut short or with bytes replaced: read or refused in one line, never worse.
#include <gtest/gtest.h>

#include <algorithm>

#include "sluice/base/error.h"
#include "sluice/base/random.h"
#include "sluice/io/safetensors.h"
#include "tests/base/temporary_directory.h"
#include "tests/io/safetensors_bytes.h"

namespace sluice {
namespace {

const std::string& small_file() {
  static const std::string file = safetensors_bytes(
      R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
      R"("b":{"dtype":"BF16","shape":[2],"data_offsets":[8,12]},"e":{"dtype":"F16","shape":[0],"data_offsets":[12,12]}})",
      "0123456789ab");
  return file;
}

void expect_one_line_of_bad_input(const Error& error) {
  const std::string line = error.what();
  EXPECT_EQ(error.kind(), ErrorKind::BadInput) << line;
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 0) << line;
}

TEST(DamagedSafetensors, are_refused_wherever_they_are_cut) {
  const TemporaryDirectory directory;
  ASSERT_EQ(parse_header(small_file()).tensors.size(), 3U);
  for (size_t size = 0; size < small_file().size(); ++size) {
    const auto path = directory.file("m.safetensors", small_file().substr(0, size));
    try {
      const SafetensorsFile file(path);
      ADD_FAILURE() << size << " bytes were accepted";
    } catch (const Error& error) {
      expect_one_line_of_bad_input(error);
      EXPECT_TRUE(std::string_view(error.what()).starts_with(path.string() + ": ")) << error.what();
    }
  }
}

TEST(DamagedSafetensors, are_read_or_refused_whatever_bytes_are_replaced) {
  const Random random(1);
  for (uint64_t i = 0; i < 20'000; ++i) {
    std::string file = small_file();
    for (uint64_t edit = 0; edit < 1 + i % 3; ++edit) {
      const auto words = random.bits(4 * i + edit);
      file[words[0] % file.size()] =
          words[2] % 2 == 0 ? static_cast<char>(words[1]) : small_file()[words[1] % file.size()];
    }
    try {
      for (const SafetensorsEntry& each : parse_header(file).tensors) {
        ASSERT_LE(each.offset + each.info.bytes(), file.size());
      }
    } catch (const Error& error) {
      expect_one_line_of_bad_input(error);
    }
  }
}

}  // namespace
}  // namespace sluice
