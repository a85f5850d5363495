#include "sluice/report/report_header.h"

#include <gtest/gtest.h>

#include <regex>

#include "sluice/base/build_info.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

TEST(ReportHeader, tells_version_machine_and_time) {
  const Engine engine({.threads = 1, .isa = {.name = "scalar"}});
  const ReportHeader header = report_header(engine, "sluice gates m");
  EXPECT_EQ(header.command, "sluice gates m");
  EXPECT_EQ(header.version, build_info().version);
  EXPECT_TRUE(header.machine.ends_with(", scalar on 1 thread")) << header.machine;
  EXPECT_TRUE(std::regex_match(header.time, std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"))) << header.time;
}

// The CRC-32 of "123456789" that every description of it gives.
TEST(ReportSource, of_a_file_is_the_checksum_of_its_bytes) {
  const TemporaryDirectory directory;
  const ReportSource source = report_source("data", directory.file("a.txt", "123456789"));
  EXPECT_EQ(source.role, "data");
  EXPECT_EQ(source.name, (directory.path() / "a.txt").string());
  EXPECT_EQ(source.checksum, "crc32 cbf43926");
}

TEST(ReportSource, of_a_model_is_that_of_its_configuration_and_weights) {
  const TemporaryDirectory directory;
  directory.file("config.json", "1234");
  directory.file("model.safetensors", "56789");
  directory.file("README.md", "not part of it");
  EXPECT_EQ(report_source("model", directory.path()).checksum, "crc32 cbf43926");
  directory.file("model.safetensors", "56780");
  EXPECT_NE(report_source("model", directory.path()).checksum, "crc32 cbf43926");
}

TEST(ReportSource, of_what_cannot_be_read_again_has_no_checksum) {
  EXPECT_EQ(report_source("data", "/dev/null").checksum, "");
  EXPECT_EQ(report_source("data", "-").checksum, "");
}

}  // namespace
}  // namespace sluice
