#include "tests/browser/explorer_page.h"

#include <cstdlib>
#include <fstream>

namespace sluice::test {
namespace {

// Started with the first test and ended with the program, in this order.
struct Stage {
  ExploredModels models;
  Browser browser{find_browser()};
};

std::unique_ptr<Stage>& stage() {
  static std::unique_ptr<Stage> made;
  return made;
}

class EndsTheStage : public testing::Environment {
 public:
  void TearDown() override { stage().reset(); }
};
[[maybe_unused]] const auto* const kEnvironment = testing::AddGlobalTestEnvironment(new EndsTheStage);

}  // namespace

void ExplorerPage::SetUp() {
  if (!stage()) stage() = std::make_unique<Stage>();
  browser().resize(1280, 900);
  browser().prefer_dark(false);
  browser().console_errors();
}

void ExplorerPage::TearDown() {
  if (!stage()) return;
  for (const std::string& error : browser().console_errors()) {
    if (refusals_expected_ && error.find("Failed to load resource") != std::string::npos) continue;
    ADD_FAILURE() << "on the console: " << error;
  }
}

Browser& ExplorerPage::browser() const {
  return stage()->browser;
}

std::string ExplorerPage::address(const std::string& path) const {
  return stage()->models.address() + path;
}

void ExplorerPage::open(const std::string& fragment) {
  browser().open(address("/#" + fragment));
  wait_for_tokens();
}

void ExplorerPage::wait_for_tokens() {
  // The mark of coloured tokens is the value that each button shows; the first has no surprise.
  browser().wait_until(
      "document.querySelectorAll('.strip button').length && "
      "[...document.querySelectorAll('.strip')].every((strip) => strip.children[strip.children.length - "
      "1].dataset.shown !== undefined) && "
      "!document.getElementById('status').classList.contains('busy')",
      "tokens with colours");
}

std::string ExplorerPage::text_of(const std::string& selector) const {
  const nlohmann::json text =
      browser().run("return document.querySelector(arguments[0])?.textContent ?? null", {selector});
  return text.is_null() ? "(not on the page)" : text.get<std::string>();
}

nlohmann::json ExplorerPage::count(const std::string& selector) const {
  return browser().run("return document.querySelectorAll(arguments[0]).length", {selector});
}

nlohmann::json ExplorerPage::ask(const std::string& path, const nlohmann::json& body) const {
  return browser().run_async(
      "const answer = await fetch(arguments[0], {method: 'POST', headers: {'Content-Type': "
      "'application/json'}, body: JSON.stringify(arguments[1])});"
      "return answer.json();",
      {path, body});
}

void keep_screenshot(Browser& browser, const std::string& name) {
  const char* folder = std::getenv("SLUICE_SCREENSHOTS");
  if (folder == nullptr) return;
  // Decoded by `base64 --decode`: not worth code of ours.
  std::ofstream(std::string(folder) + "/" + name + ".png.base64") << browser.screenshot();
}

}  // namespace sluice::test
