#include "sluice/base/appended_file.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "sluice/base/error.h"
#include "sluice/base/file.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(AppendedFile, keeps_what_is_there) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "log";
  AppendedFile(path).append("one\n");
  AppendedFile again(path);
  again.append("two\n");
  again.append("three\n");
  EXPECT_EQ(read_text(path, 100), "one\ntwo\nthree\n");
}

TEST(AppendedFile, names_the_file_that_cannot_be_written) {
  const TemporaryDirectory directory;
  const std::string absent = (directory.path() / "absent" / "log").string();
  EXPECT_NE(message_of([&] { AppendedFile file(absent); }).find(absent), std::string::npos);
  AppendedFile full("/dev/full");
  const std::string message = message_of([&] { full.append("text"); });
  EXPECT_NE(message.find("/dev/full"), std::string::npos) << message;
  EXPECT_NE(message.find("No space left"), std::string::npos) << message;
}

}  // namespace
}  // namespace sluice
