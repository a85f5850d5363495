// Live changes of gates: the list, the slider, what comes of it, with and without side by side.
#include "tests/browser/explorer_page.h"

namespace sluice::test {
namespace {

using nlohmann::json;

class ExplorerBreak : public ExplorerPage {
 protected:
  void wait_for_effect() {
    browser().wait_until(
        "document.getElementById('effects')?.dataset.kl && document.getElementById('fact-kl')",
        "the effect in numbers");
  }

  double shown_divergence() {
    return std::stod(
        browser().run("return document.getElementById('effects').dataset.kl").get<std::string>());
  }

  double computed_divergence(const std::string& intervention) {
    const json subject = {{"model", "headwise"}, {"prompt", kPrompt}};
    json changed = subject;
    changed["interventions"] = {intervention};
    return ask("/api/v1/compare", {{"a", subject}, {"b", changed}})["difference"]["kl_mean"];
  }
};

TEST_F(ExplorerBreak, closes_a_head_and_shows_what_that_does) {
  open("m=headwise&v=break&l=1&h=0&t=" + kPrompt);
  EXPECT_NE(text_of(".changes, .view .empty").find("Nothing is changed"), std::string::npos);
  browser().click("#add-change");
  wait_for_effect();
  EXPECT_EQ(text_of(".change code"), "layers.1.attn.gate set=0 heads=0");
  EXPECT_DOUBLE_EQ(shown_divergence(), computed_divergence("layers.1.attn.gate set=0 heads=0"));
  EXPECT_GT(shown_divergence(), 0);
  EXPECT_EQ(text_of("#tab-break .count"), "1");
  browser().wait_until(
      "document.querySelector('[data-said=\"as it is\"]')?.textContent.length >= 40 && "
      "document.querySelector('[data-said=changed]')?.textContent.length >= 40",
      "two continuations");
  keep_screenshot(browser(), "break");
}

TEST_F(ExplorerBreak, follows_the_slider) {
  open("m=headwise&v=break&x=1_all_0_0_0_constant_0.5&t=" + kPrompt);
  wait_for_effect();
  const double half = shown_divergence();
  browser().drag("#amount-0", 0.5, 0.05);
  browser().wait_until(
      "document.getElementById('effects').dataset.kl !== '" +
          browser().run("return document.getElementById('effects').dataset.kl").get<std::string>() +
          "' || Number(document.getElementById('amount-0').value) < 0.2",
      "a moved slider");
  browser().wait_until("location.hash.includes('constant_' + document.getElementById('amount-0').value)",
                       "the slider's value in the URL");
  const std::string amount =
      browser().run("return document.getElementById('amount-0').value").get<std::string>();
  EXPECT_LT(std::stod(amount), 0.3);
  const double expected = computed_divergence("attn.gate set=" + amount);
  browser().wait_until("Math.abs(Number(document.getElementById('effects').dataset.kl) - " +
                           json(expected).dump() + ") < 1e-9",
                       "the effect of the slider's place");
  EXPECT_NE(shown_divergence(), half);
}

TEST_F(ExplorerBreak, switches_changes_off_and_removes_them) {
  open("m=headwise&v=break&x=1_all_0_0_0_open_1~1_layer_1_0_0_scale_0.5&t=" + kPrompt);
  wait_for_effect();
  EXPECT_EQ(count(".change"), 2);
  browser().click("#on-0");
  browser().wait_until("document.querySelectorAll('.change.off').length === 1", "one that is off");
  const double expected = computed_divergence("layers.1.attn.gate scale=0.5");
  browser().wait_until("Math.abs(Number(document.getElementById('effects').dataset.kl) - " +
                           json(expected).dump() + ") < 1e-9",
                       "the effect of the other alone");
  browser().click(".change .remove");
  browser().click(".change .remove");
  browser().wait_until("document.querySelectorAll('.change').length === 0", "an empty list");
}

TEST_F(ExplorerBreak, shows_with_and_without_side_by_side) {
  open("m=headwise&v=break&x=1_all_0_0_0_closed_0.5&t=" + kPrompt);
  browser().click("#show-beside");
  browser().wait_until("document.querySelectorAll('.strip').length === 2", "two strips");
  wait_for_tokens();
  browser().wait_until(
      "[...document.querySelectorAll('.strip')[1].children].every((button) => Number(button.dataset.shown) "
      "=== 0 && button.dataset.shown !== '')",
      "closed gates on the right");
  EXPECT_TRUE(browser()
                  .run("return [...document.querySelectorAll('.strip')[0].children].some((button) => "
                       "Number(button.dataset.shown) > 0)")
                  .get<bool>())
      << "open gates on the left";
}

TEST_F(ExplorerBreak, continues_the_text_with_gates_at_their_mean) {
  open("m=headwise&v=break&x=1_all_0_0_0_mean_0.5&t=" + kPrompt);
  wait_for_effect();
  browser().wait_until("document.querySelector('[data-said=changed]')?.querySelector('span:not(.note)')",
                       "a continuation of the changed model");
}

}  // namespace
}  // namespace sluice::test
