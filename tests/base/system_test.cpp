#include "sluice/base/system.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace sluice {
namespace {

TEST(SystemMemory, AgreesWithThePagesOfTheKernel) {
  const SystemMemory memory = system_memory();
  const double pages =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  EXPECT_NEAR(static_cast<double>(memory.total), pages, 0.01 * pages);
}

TEST(SystemMemory, IsPartlyAvailable) {
  const SystemMemory memory = system_memory();
  EXPECT_GT(memory.available, 0);
  EXPECT_LE(memory.available, memory.total);
}

TEST(HostName, IsOneWord) {
  EXPECT_FALSE(host_name().empty());
  EXPECT_EQ(host_name().find_first_of(" \n"), std::string::npos);
}

}  // namespace
}  // namespace sluice
