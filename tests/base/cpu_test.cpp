#include "sluice/base/cpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

namespace sluice {
namespace {

// The words of the first "flags" line; none where the kernel writes no such file.
std::set<std::string> kernel_flags() {
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  while (std::getline(info, line)) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

TEST(DetectCpu, GivesTheSameAnswerTwice) {
  EXPECT_EQ(detect_cpu(), detect_cpu());
}

TEST(DetectCpu, AgreesWithTheKernel) {
  const std::set<std::string> flags = kernel_flags();
  if (flags.empty()) GTEST_SKIP() << "no flags in /proc/cpuinfo";
  const auto all_of = [&](const std::set<std::string>& names) { return std::ranges::includes(flags, names); };
  const CpuFeatures cpu = detect_cpu();
  EXPECT_EQ(cpu.avx2, all_of({"avx", "avx2", "fma", "f16c", "movbe", "bmi1", "bmi2", "abm"}));
  EXPECT_EQ(cpu.avx512, cpu.avx2 && all_of({"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}));
  EXPECT_EQ(cpu.avx512_vnni, cpu.avx512 && flags.contains("avx512_vnni"));
  EXPECT_EQ(cpu.avx512_bf16, cpu.avx512 && flags.contains("avx512_bf16"));
  // Not the other way round: the tiles that a hypervisor reports may not work.
  if (cpu.amx_bf16) {
    EXPECT_TRUE(all_of({"amx_tile", "amx_bf16"}));
  }
}

TEST(DetectCpu, ReportsNoSetWithoutTheOnesBelow) {
  const CpuFeatures cpu = detect_cpu();
  EXPECT_TRUE(cpu.avx2 || !cpu.avx512);
  EXPECT_TRUE(cpu.avx512 || !(cpu.avx512_bf16 || cpu.avx512_vnni || cpu.amx_bf16));
  EXPECT_TRUE(cpu.amx_bf16 || !cpu.amx_int8);
}

TEST(DetectCpu, AlwaysExplainsItself) {
  const CpuFeatures cpu = detect_cpu();
  EXPECT_NE(cpu.brand, "");
  EXPECT_NE(cpu.amx_status, "");
  EXPECT_EQ(cpu.amx_status == "the self-test passed", cpu.amx_bf16) << cpu.amx_status;
}

}  // namespace
}  // namespace sluice
