// The pages for people who do not see them, see little contrast, or have no pointer.
#include "tests/browser/browser_checks.h"
#include "tests/browser/explorer_page.h"

namespace sluice::test {
namespace {

class Accessibility : public ExplorerPage {
 protected:
  void open_view(const std::string& view) {
    open("m=headwise&b=baseline&t=" + kPrompt + "&v=" + view);
    browser().wait_until(
        "!document.getElementById('status').classList.contains('busy') && document.querySelector('#view > "
        "*')",
        "the view");
  }
};

constexpr const char* kViews[] = {"attention", "gates",
                                  "break&x=1_all_0_0_0_constant_0.5~0_layer_1_0_0_open_1", "next", "lens"};

TEST_F(Accessibility, every_control_and_picture_has_a_name) {
  for (const char* view : kViews) {
    open_view(view);
    EXPECT_EQ(nameless_nodes(browser()), std::vector<std::string>{}) << view;
  }
}

TEST_F(Accessibility, every_text_stands_out_in_light_and_dark) {
  for (const bool dark : {false, true}) {
    browser().prefer_dark(dark);
    for (const char* view : kViews) {
      open_view(view);
      EXPECT_EQ(faint_texts(browser()), std::vector<std::string>{}) << view << (dark ? ", dark" : ", light");
    }
  }
}

TEST_F(Accessibility, views_are_tabs_that_arrows_move_between) {
  open_view("attention");
  EXPECT_EQ(count("[role='tablist'] [role='tab'][aria-selected='true']"), 1);
  browser().run("document.getElementById('tab-attention').focus()");
  browser().press(keys::kRight);
  browser().wait_until(
      "document.activeElement.id === 'tab-gates' && document.getElementById('view').dataset.view === 'gates'",
      "the next tab, with focus");
}

TEST_F(Accessibility, a_view_is_named_by_its_tab_and_not_by_what_the_tab_counts) {
  open_view("break&x=1_all_0_0_0_constant_0.5");
  EXPECT_EQ(browser().run("return document.getElementById('view').getAttribute('aria-label')"), "Break it");
  EXPECT_EQ(browser().run("return document.getElementById('tab-break').getAttribute('aria-label')"),
            "Break it, 1 change on");
}

TEST_F(Accessibility, tab_reaches_the_prompt_the_tokens_and_the_maps) {
  open_view("attention");
  browser().run(
      "document.body.focus(); window.reached = new Set(); document.addEventListener('focusin', (event) => "
      "window.reached.add(event.target.id || event.target.dataset.token || event.target.className));");
  for (int i = 0; i < 60; ++i) browser().press(keys::kTab);
  const auto reached = browser().run("return [...window.reached]").get<std::vector<std::string>>();
  for (const char* wanted : {"prompt", "0", "tab-attention", "cell", "map"})
    EXPECT_NE(std::find(reached.begin(), reached.end(), wanted), reached.end()) << wanted;
}

TEST_F(Accessibility, focus_stays_on_a_control_that_redraws_its_row) {
  open_view("attention");
  browser().run("document.querySelector(\"#strip-tools [data-value='surprise']\").focus()");
  browser().press(keys::kEnter);
  browser().wait_until(
      "document.querySelector(\"#strip-tools [data-value='surprise']\").getAttribute('aria-pressed') === "
      "'true'",
      "tokens by surprise");
  EXPECT_EQ(browser().run("return document.activeElement.dataset.value"), "surprise");
}

TEST_F(Accessibility, the_story_has_names_and_contrast_too) {
  for (const bool dark : {false, true}) {
    browser().prefer_dark(dark);
    browser().resize(1280, 9000);  // all chapters are in sight, so all are computed
    browser().open(address("/story"));
    browser().wait_until("document.querySelectorAll(\".chapter[data-state='done']\").length === 8",
                         "eight chapters");
    EXPECT_EQ(nameless_nodes(browser()), std::vector<std::string>{});
    EXPECT_EQ(faint_texts(browser()), std::vector<std::string>{}) << (dark ? "dark" : "light");
  }
}

}  // namespace
}  // namespace sluice::test
