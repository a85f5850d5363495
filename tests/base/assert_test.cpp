#include "sluice/base/assert.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "sluice/tensor/shape.h"

namespace sluice {
namespace {

template <class Body>
std::string message_of(const Body& body) {
  try {
    body();
  } catch (const AssertionError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Assert, DoesNothingWhileTheConditionHolds) {
  int evaluations = 0;
  SLUICE_ASSERT(++evaluations == 1, "test: never seen");
  EXPECT_EQ(evaluations, 1);
}

TEST(Assert, FormatsTheMessageOnlyWhenItFails) {
  int formatted = 0;
  const auto value = [&] { return ++formatted; };
  SLUICE_ASSERT(true, "test: {}", value());
  EXPECT_EQ(formatted, 0);
  EXPECT_NE(message_of([&] { SLUICE_ASSERT(false, "test: {}", value()); }), "");
  EXPECT_EQ(formatted, 1);
}

TEST(Assert, SaysOperationConditionAndPlace) {
  EXPECT_EQ(message_of([] { assertion_failed("a == b", "sluice/ops/linear.cpp", 12, "linear: 3 columns"); }),
            "linear: 3 columns [a == b at sluice/ops/linear.cpp:12]");
}

TEST(Assert, NamesFilesFromTheIncludeRootOn) {
  for (const char* file : {"/home/someone/sluice/src/sluice/ops/linear.cpp", "../src/sluice/ops/linear.cpp",
                           "sluice/ops/linear.cpp"}) {
    EXPECT_EQ(message_of([&] { assertion_failed("c", file, 1, "m"); }), "m [c at sluice/ops/linear.cpp:1]");
  }
}

TEST(Assert, AFailureInTheLibraryBeginsWithTheOperationAndHidesTheBuildMachine) {
  const std::string message = message_of([] { Shape({-1}); });
  EXPECT_TRUE(message.starts_with("shape: negative dimension -1 [")) << message;
  EXPECT_NE(message.find(" at sluice/tensor/shape.cpp:"), std::string::npos) << message;
  EXPECT_EQ(message.find('/'), message.find("/tensor/shape.cpp")) << message;
}

TEST(Assert, IsAMistakeOfTheProgrammerAndNotAnErrorForAUser) {
  EXPECT_THROW(SLUICE_ASSERT(false, "test: wrong"), std::logic_error);
}

}  // namespace
}  // namespace sluice
