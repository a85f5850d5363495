// EXPECT_ERROR(statement, kind, line): the statement throws a sluice::Error of that kind with exactly that
// line.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "sluice/base/error.h"

#define EXPECT_ERROR(statement, expected_kind, expected_line)                    \
  try {                                                                          \
    static_cast<void>(statement);                                                \
    ADD_FAILURE() << #statement " did not throw";                                \
  } catch (const ::sluice::Error& thrown) {                                      \
    EXPECT_EQ(std::string(thrown.what()), std::string(expected_line));           \
    EXPECT_EQ(static_cast<int>(thrown.kind()), static_cast<int>(expected_kind)); \
  }

#define EXPECT_BAD_INPUT(statement, line) EXPECT_ERROR(statement, ::sluice::ErrorKind::BadInput, line)
