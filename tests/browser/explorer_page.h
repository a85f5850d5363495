// What tests of the explorer's pages share: one server and one browser for all of them, and the page in its
// parts.
#pragma once

#include <gtest/gtest.h>

#include "tests/browser/browser.h"
#include "tests/browser/explored_models.h"

namespace sluice::test {

class ExplorerPage : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;  // errors on the page's console fail the test

  Browser& browser() const;
  std::string address(const std::string& path = "/") const;

  // The explorer at a state, as its URL's fragment has it; waits until the tokens have their colours.
  void open(const std::string& fragment = "m=headwise");
  // Until the panes show what the state asks for and are coloured.
  void wait_for_tokens();

  std::string text_of(const std::string& selector) const;
  nlohmann::json count(const std::string& selector) const;
  // The answer of the server to the page itself.
  nlohmann::json ask(const std::string& path, const nlohmann::json& body) const;

  // For tests in which a request must fail, which browsers put on the console.
  void expect_refused_requests() { refusals_expected_ = true; }

 private:
  bool refusals_expected_ = false;
};

// A prompt with a letter that the nursery knows as no trigger; which it is does not matter to the tests.
inline const std::string kPrompt = "^abcdefghij";

// Puts a PNG of the page into the folder that SLUICE_SCREENSHOTS names, if it does: for looking at.
void keep_screenshot(Browser& browser, const std::string& name);

}  // namespace sluice::test
