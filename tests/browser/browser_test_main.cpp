// Runs the tests in a browser if there is one; says so and skips (77) if not.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/browser/browser.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!sluice::test::find_browser().are_there()) {
    std::cout << "skipped: chromium and chromedriver are needed (scripts/install-deps.sh --slow-tests)\n";
    return 77;
  }
  return RUN_ALL_TESTS();
}
