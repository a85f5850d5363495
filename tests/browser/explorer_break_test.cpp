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

  // What /api/v1/generate says when it is done, of 16 tokens.
  json continuation(const json& keys) {
    json body = {{"model", "headwise"}, {"prompt", kPrompt}, {"max_tokens", 16}};
    body.update(keys);
    return browser().run_async(
        "const answer = await fetch('/api/v1/generate', {method: 'POST', headers: {'Content-Type': "
        "'application/json'}, body: JSON.stringify(arguments[0])});"
        "return JSON.parse(/event: done\\ndata: (.*)/.exec(await answer.text())[1]);",
        {body});
  }

  void wait_for_continuations() {
    browser().wait_until("document.querySelectorAll('[data-said][data-ended]').length === 2",
                         "two continuations with an end");
  }

  std::string ended(const std::string& which) {
    return browser()
        .run("return document.querySelector(`[data-said='${arguments[0]}']`).dataset.ended", {which})
        .get<std::string>();
  }

  // Without the note on how it ends.
  std::string tokens_said(const std::string& which) {
    return browser()
        .run(
            "return [...document.querySelectorAll(`[data-said='${arguments[0]}'] span:not(.note)`)].map("
            "(span) => span.textContent).join('')",
            {which})
        .get<std::string>();
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
  wait_for_continuations();
  keep_screenshot(browser(), "break");
}

TEST_F(ExplorerBreak, lists_the_tokens_whose_likeliest_successor_is_another) {
  open("m=headwise&v=break&x=1_all_0_0_0_closed_0.5&t=" + kPrompt);
  wait_for_effect();
  const json subject = {{"model", "headwise"}, {"prompt", kPrompt}};
  json changed = subject;
  changed["interventions"] = {"attn.gate set=0"};
  const json flips = ask("/api/v1/compare", {{"a", subject}, {"b", changed}})["difference"]["changed"];
  ASSERT_GT(flips.size(), 0U) << "nothing flips with this prompt: take another";
  const json rows = browser().run(
      "return [...document.querySelectorAll('#flips tbody tr')].map((row) => [Number(row.dataset.position), "
      "row.cells[2].textContent, row.cells[4].textContent])");
  ASSERT_EQ(rows.size(), flips.size());
  const auto shown = [](const json& token) {
    return token["id"] == 0 ? "\\x00" : token["token"].get<std::string>();
  };
  for (size_t i = 0; i < flips.size(); ++i) {
    EXPECT_EQ(rows[i][0], flips[i]["position"]);
    EXPECT_EQ(rows[i][1], shown(flips[i]["a"]));
    EXPECT_EQ(rows[i][2], shown(flips[i]["b"]));
  }
}

TEST_F(ExplorerBreak, saves_the_whole_effect) {
  open("m=headwise&v=break&x=1_all_0_0_0_closed_0.5&t=" + kPrompt);
  wait_for_effect();
  browser().run(
      "document.addEventListener('sluice:saved', async ({detail}) => { window.table = await "
      "detail.blob.text(); }, {once: true});");
  browser().click("[data-export='effect.csv']");
  browser().wait_until("window.table", "the file");
  const json counts = browser().run(
      "const counts = {}; for (const line of window.table.trim().split('\\n').slice(1)) { const what = "
      "line.split(',')[2]; counts[what] = (counts[what] ?? 0) + 1; } return counts;");
  const json flips = browser().run("return document.querySelectorAll('#flips tbody tr').length");
  EXPECT_EQ(counts["kl"], 11);
  EXPECT_EQ(counts["token_surprise"], 11);
  EXPECT_EQ(counts["head_sink"], 6);
  EXPECT_EQ(counts["flip"], flips);
  EXPECT_GE(counts["next"].get<int>(), 200) << "not only those on the page";
  for (const char* figure : {"mean_kl", "agreement", "surprise", "sink"}) EXPECT_EQ(counts[figure], 1);
}

TEST_F(ExplorerBreak, marks_what_another_change_overrides) {
  open("m=headwise&v=break&t=" + kPrompt +
       "&x=1_head_1_0_0_closed_1~1_layer_2_0_0_scale_2~0_all_0_0_0_open_1~1_layer_1_0_0_open_1~1_head_2_1_0_"
       "mean_"
       "1~1_layer_2_0_0_scale_3");
  wait_for_effect();
  const auto why = [&](int change) { return text_of("[data-change='" + std::to_string(change) + "'] .why"); };
  EXPECT_EQ(why(0), "Overridden by change 4, which comes later.");
  EXPECT_EQ(why(1), "Overridden in part by change 5, which comes later.");
  for (const int change : {2, 3, 4, 5}) EXPECT_EQ(why(change), "(not on the page)") << change;
  browser().click("#on-3");
  browser().wait_until("!document.querySelector(\"[data-change='0'] .why\")", "no mark any more");
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

TEST_F(ExplorerBreak, says_what_the_server_says_with_gates_at_their_mean) {
  // Most continuations of this model end at once; of this seed and temperature a few letters come first.
  open("m=headwise&v=break&T=2&S=1&L=16&x=1_all_0_0_0_mean_0.5&t=" + kPrompt);
  const json expected =
      continuation({{"interventions", {"attn.gate mean"}}, {"temperature", 2}, {"seed", 1}});
  ASSERT_NE(expected["text"], "");
  wait_for_continuations();
  EXPECT_EQ(tokens_said("changed"), expected["text"]);
  EXPECT_EQ(ended("changed"), expected["reason"]);
  const bool says_end =
      text_of("[data-said=changed]").find("ends here: end-of-text token 0") != std::string::npos;
  EXPECT_EQ(says_end, expected["reason"] == "stop");
}

TEST_F(ExplorerBreak, says_that_a_continuation_ends_at_once) {
  open("m=headwise&v=break&T=0&L=16&x=1_all_0_0_0_mean_0.5&t=" + kPrompt);
  const json expected = continuation({{"interventions", {"attn.gate mean"}}});
  ASSERT_EQ(expected["ids"], json::array()) << "this prompt no longer ends at once: take another";
  wait_for_continuations();
  EXPECT_EQ(tokens_said("changed"), "");
  EXPECT_EQ(ended("changed"), "stop");
  EXPECT_NE(text_of("[data-said=changed]").find("Ends at once"), std::string::npos);
  EXPECT_NE(text_of("[data-said=changed]").find("token 0 “\\x00”"), std::string::npos);
  EXPECT_NE(text_of("#effects table").find("\\x00 ends the text"), std::string::npos);
  EXPECT_NE(tokens_said("as it is"), "");
}

TEST_F(ExplorerBreak, shows_what_it_does_to_each_of_two_models) {
  open("m=headwise&b=deep&v=break&x=1_all_0_0_0_closed_0.5&t=" + kPrompt);
  wait_for_effect();
  browser().wait_until("document.getElementById('effects-beside')?.dataset.kl", "the effect on the second");
  EXPECT_EQ(text_of("#effects h2"), "What it does to headwise");
  EXPECT_EQ(text_of("#effects-beside h2"), "What it does to deep");
  const json subject = {{"model", "deep"}, {"prompt", kPrompt}};
  json changed = subject;
  changed["interventions"] = {"attn.gate set=0"};
  const double expected = ask("/api/v1/compare", {{"a", subject}, {"b", changed}})["difference"]["kl_mean"];
  EXPECT_DOUBLE_EQ(
      std::stod(
          browser().run("return document.getElementById('effects-beside').dataset.kl").get<std::string>()),
      expected);
  open("m=headwise&b=baseline&v=break&x=1_all_0_0_0_closed_0.5&t=" + kPrompt);
  wait_for_effect();
  EXPECT_EQ(count("#effects-beside"), 0);
  EXPECT_EQ(text_of("#gateless"), "baseline, beside it, has no gate: nothing is changed in it.");
  open("m=baseline&b=headwise&v=break&x=1_all_0_0_0_closed_0.5&t=" + kPrompt);
  wait_for_effect();
  EXPECT_EQ(text_of("#effects h2"), "What it does to headwise");
  EXPECT_EQ(text_of("#gateless"), "baseline has no gate: nothing is changed in it.");
  EXPECT_EQ(count(".change"), 1) << "it can be switched off";
}

// Figures that are late look so; once there are none, or new ones, nothing does, however the late question
// ended.
TEST_F(ExplorerBreak, is_not_busy_any_more_when_the_changes_are_switched_off) {
  open("m=headwise&v=break&x=1_all_0_0_0_closed_0.5&t=" + kPrompt);
  wait_for_effect();
  browser().run(R"(
const real = window.fetch;
window.fetch = (path, options) => !String(path).includes('compare') ? real(path, options) : new Promise((_, reject) =>
  options.signal.addEventListener('abort', () => reject(new DOMException('given up', 'AbortError'))));)");
  browser().click("[aria-label='Add a change'] button:nth-child(2)");
  browser().wait_until("document.getElementById('effects').getAttribute('aria-busy') === 'true'",
                       "figures that are marked as late");
  browser().click("#on-0");
  browser().click("#on-1");
  browser().wait_until(
      "document.querySelector('#effects .empty')?.textContent.includes('Switch a change on')", "no figures");
  EXPECT_EQ(browser().run("return document.getElementById('effects').getAttribute('aria-busy')"), json());
}

}  // namespace
}  // namespace sluice::test
