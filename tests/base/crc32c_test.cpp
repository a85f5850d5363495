#include "sluice/base/crc32c.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

namespace sluice {
namespace {

// The vectors of RFC 3720, B.4, and the usual check value.
TEST(Crc32c, has_the_published_values) {
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  std::string rising(32, '\0');
  std::iota(rising.begin(), rising.end(), '\0');
  EXPECT_EQ(crc32c(rising), 0x46dd794eU);
}

}  // namespace
}  // namespace sluice
