// The story: eight chapters, each with something to do, and numbers that the server has computed.
#include <cmath>

#include "tests/browser/explorer_page.h"

namespace sluice::test {
namespace {

using nlohmann::json;

class Story : public ExplorerPage {
 protected:
  // All chapters in sight and computed, so that nothing moves any more while a test points at something.
  void open_story() {
    browser().resize(1280, 9000);
    browser().open(address("/story"));
    browser().wait_until("document.querySelectorAll(\".chapter[data-state='done']\").length === 8",
                         "eight chapters");
  }

  std::string found(const std::string& chapter) { return text_of("#" + chapter + " .found"); }

  // What a chapter has read.
  json text_read(const std::string& chapter) {
    return browser().run("return document.querySelector(arguments[0]).dataset.text",
                         {"#" + chapter + " .found"});
  }
};

TEST_F(Story, has_eight_chapters_that_all_come_to_an_end) {
  browser().resize(1280, 9000);
  browser().open(address("/story"));
  browser().wait_until("document.querySelectorAll(\".chapter[data-state='done']\").length === 8",
                       "eight chapters");
  EXPECT_EQ(count("#contents a"), 8);
  EXPECT_EQ(count(".chapter .try"), 8) << "one thing to do in each";
  EXPECT_EQ(browser().run("return document.body.innerText.match(/NaN|undefined|null|Infinity/)"), json());
  EXPECT_EQ(
      browser().run("return [...document.querySelectorAll('.chart text')].map((text) => text.textContent)"
                    ".filter((text) => /^[0-9]+[.][0-9]*0$/.test(text))"),
      json::array())
      << "ticks with digits that say nothing";
  keep_screenshot(browser(), "story");
}

TEST_F(Story, reads_a_sentence_of_the_readers) {
  open_story();
  browser().type("#attention input", "the cat sat on the mat");
  browser().wait_until("document.querySelectorAll('#attention .strip button').length === 22", "its tokens");
  browser().click("#attention [data-token='6']");
  browser().wait_until("document.querySelector('#attention .chosen')?.dataset.token === '6'",
                       "where a pressed token looks");
  EXPECT_NE(found("attention").find("looks back"), std::string::npos);
}

TEST_F(Story, shows_that_rows_add_up_to_one) {
  open_story();
  EXPECT_EQ(text_of("#spotlight [data-computed='row-sum']"), "1.000");
  browser().drag("#spotlight input[type='range']", 0.3, 0.8);
  browser().wait_until("Number(document.querySelector('#spotlight .chosen').dataset.token) > 40",
                       "a later token");
  EXPECT_EQ(text_of("#spotlight [data-computed='row-sum']"), "1.000");
}

TEST_F(Story, measures_the_sink_as_the_server_does) {
  open_story();
  const json view = ask("/api/v1/view", {{"model", "baseline"}, {"prompt", text_read("sink")}});
  const double sink = view["sink"]["mean"], floor = view["sink"]["floor"];
  const std::string shown = text_of("#sink [data-computed='sink']");
  EXPECT_NEAR(std::stod(shown) / 100, sink, 0.006) << shown;
  const bool is_sink = sink >= 3 * floor;
  EXPECT_NE(found("sink").find(is_sink ? "a sink by the rule" : "does not show one"), std::string::npos)
      << found("sink");
  const std::string before = found("sink");
  browser().click("#sink button");
  browser().wait_until("document.querySelector('#sink .found').textContent !== " + json(before).dump(),
                       "another sequence");
}

TEST_F(Story, counts_the_rank_of_a_head) {
  open_story();
  EXPECT_EQ(text_of("#paint [data-computed='rank']"), "16") << "of the random model, the only one for prose";
}

TEST_F(Story, compares_the_pair_on_more_and_more_texts) {
  open_story();
  EXPECT_NE(found("pair").find("of 1"), std::string::npos);
  browser().click("#pair button");
  browser().wait_until("document.querySelector('#pair .found').textContent.includes('of 2')",
                       "a second text");
}

TEST_F(Story, breaks_the_gates_by_a_slider) {
  open_story();
  const std::string open_gates = text_of("#break [data-computed='kl']");
  const json subject = {{"model", "headwise"}, {"prompt", text_read("break")}};
  json changed = subject;
  changed["interventions"] = {"attn.gate set=1"};
  const double expected = ask("/api/v1/compare", {{"a", subject}, {"b", changed}})["difference"]["kl_mean"];
  EXPECT_NEAR(std::stod(open_gates), expected, 0.0006);
  browser().drag("#break input[type='range']", 0.98, 0.1);
  browser().wait_until(
      "document.querySelector(\"#break [data-computed='kl']\").textContent !== '" + open_gates + "'",
      "another divergence");
}

TEST_F(Story, ends_with_a_table_of_all_models) {
  open_story();
  EXPECT_EQ(count("#open tbody tr"), 3);
}

TEST_F(Story, says_at_the_end_what_a_sink_is_and_who_has_one) {
  open_story();
  const auto times = [&](const char* model) {
    const json view = ask("/api/v1/view", {{"model", model}, {"prompt", text_read("open")}});
    return view["sink"]["mean"].get<double>() / view["sink"]["floor"].get<double>();
  };
  const double plain = times("baseline"), gated = times("headwise");
  ASSERT_GT(plain, 3) << "the nursery's golden pair";
  ASSERT_GT(gated, 3);
  ASSERT_LT(gated, plain);
  const std::string said = found("open");
  for (const char* words : {"A sink is a token that gets far more attention", "What the gate does to it",
                            "with the gate the sink is smaller, but still there",
                            "Where we saw one: on this text in baseline and headwise"})
    EXPECT_NE(said.find(words), std::string::npos) << said;
  const auto one_digit = [](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f times", value);
    return std::string(text);
  };
  EXPECT_NE(said.find("baseline gives its first token " + one_digit(plain)), std::string::npos) << said;
  EXPECT_NE(said.find("which has a gate, " + one_digit(gated)), std::string::npos) << said;
}

TEST_F(Story, offers_a_part_only_to_models_that_can_play_it) {
  open_story();
  const auto offered = [&](const char* part) {
    return browser().run(
        "return [...document.querySelectorAll(`[data-part=${arguments[0]}] option`)].map("
        "(option) => option.value)",
        {part});
  };
  EXPECT_EQ(offered("plain"), json({"baseline"}));
  EXPECT_EQ(offered("gated"), json({"headwise", "deep"}));
  EXPECT_EQ(offered("proseGated"), json({"deep"}));
  EXPECT_EQ(offered("prosePlain"), json::array());
  EXPECT_NE(text_of("[data-part='prosePlain']").find("No such model is loaded"), std::string::npos);
}

TEST_F(Story, says_what_went_wrong_and_computes_no_longer) {
  const json script = browser().devtools("Page.addScriptToEvaluateOnNewDocument", {{"source", R"(
const real = window.fetch;
window.fetch = (path, options) => String(path).includes('/compare') ? Promise.resolve(new Response('{"error": {"message": "no such gate"}}', {status: 400})) : real(path, options);)"}});
  browser().resize(1280, 9000);
  browser().open(address("/story"));
  browser().wait_until("document.querySelector(\"#break[data-state='failed']\")", "a chapter that failed");
  EXPECT_NE(text_of("#break .trouble").find("no such gate"), std::string::npos);
  EXPECT_EQ(text_of("#break").find("computing"), std::string::npos);
  browser().devtools("Page.removeScriptToEvaluateOnNewDocument", script);
}

// As the page shows it, in percent.
TEST_F(Story, compares_the_first_tokens_share_with_an_equal_one) {
  open_story();
  const auto share = [&](const char* name) {
    return std::stod(text_of(std::string("#spotlight [data-computed='") + name + "']"));
  };
  const bool less = share("idle") < share("uniform");
  const std::string said = found("spotlight");
  EXPECT_EQ(said.find("where this head leaves its light") != std::string::npos, !less) << said;
  EXPECT_EQ(said.find("less than its equal share") != std::string::npos, less) << said;
  const json words = browser().run_async(R"(
const {restWords} = await import('/story/looking.js');
return [restWords({idle: 0.055, busy: 0.001, uniform: 0.074}), restWords({idle: 0.3, busy: 0.1, uniform: 0.074}), restWords({idle: 0.1, busy: 0.3, uniform: 0.074})];)");
  EXPECT_NE(words[0].get<std::string>().find("less than its equal share, though more than at work"),
            std::string::npos)
      << words;
  EXPECT_NE(words[1].get<std::string>().find("leaves its light when nobody needs it"), std::string::npos);
  EXPECT_NE(words[2].get<std::string>().find("the other way round"), std::string::npos);
}

TEST_F(Story, says_of_a_headwise_gate_what_it_does_to_the_map) {
  open_story();
  EXPECT_NE(text_of("#dimmer").find("one number for each head and token"), std::string::npos);
  EXPECT_EQ(text_of("#dimmer").find("no longer melt"), std::string::npos);
  EXPECT_NE(text_of("#paint").find("a number for each channel"), std::string::npos) << "of the random model";
}

TEST_F(Story, leads_to_the_head_and_the_text_that_it_shows) {
  open_story();
  const json link = browser().run(
      "return Object.fromEntries(new URLSearchParams(document.querySelector('#pair .more "
      "a').hash.slice(1)))");
  EXPECT_EQ(link["m"], "headwise");
  EXPECT_EQ(link["b"], "baseline");
  EXPECT_EQ(link["t"].get<std::string>().substr(0, 1), "^");
  EXPECT_NE(
      found("pair").find("layer " + link["l"].get<std::string>() + ", head " + link["h"].get<std::string>()),
      std::string::npos);
}

TEST_F(Story, says_how_much_of_what_it_knew_a_broken_model_has_lost) {
  open_story();
  const json subject = {{"model", "headwise"}, {"prompt", text_read("break")}};
  json changed = subject;
  changed["interventions"] = {"attn.gate set=1"};
  const json compared = ask("/api/v1/compare", {{"a", subject}, {"b", changed}});
  const double before = compared["a"]["nll"],
               lost = compared["difference"]["nll"].get<double>() / (std::log(256) - before);
  const std::string said = found("break");
  EXPECT_EQ(said.find("wrecks it") != std::string::npos, lost > 0.5) << lost << ": " << said;
  const double moved = compared["difference"]["sink"];
  EXPECT_NE(said.find(std::abs(moved) < 0.02 ? "hardly moves"
                      : moved > 0            ? "More light"
                                             : "Less light"),
            std::string::npos)
      << moved << ": " << said;
}

TEST_F(Story, reads_nothing_from_an_empty_box_and_says_what_it_leaves_out) {
  open_story();
  const auto write = [&](const std::string& text) {
    browser().run(
        "const box = document.querySelector('#attention input'); box.value = arguments[0]; "
        "box.dispatchEvent(new Event('input'));",
        {text});
  };
  write("");
  browser().wait_until("document.querySelector('#attention .found').textContent.includes('nothing to read')",
                       "that there is nothing");
  EXPECT_EQ(count("#attention .strip button"), 0);
  write(std::string(301, 'a'));
  browser().wait_until(
      "document.querySelector('#attention .found').textContent.includes('Only the first 300 characters')",
      "what is left out");
  EXPECT_EQ(count("#attention .strip button"), 300);
}

TEST_F(Story, fits_a_narrow_screen) {
  browser().resize(390, 16000);
  browser().open(address("/story"));
  browser().wait_until("document.querySelectorAll(\".chapter[data-state='done']\").length === 8",
                       "eight chapters");
  EXPECT_LE(browser().run("return document.documentElement.scrollWidth").get<int>(), 390);
  EXPECT_EQ(
      browser().run("return [...document.querySelectorAll('.wide')].filter((table) => table.scrollWidth > "
                    "table.clientWidth).map((table) => table.closest('.chapter').id)"),
      json::array())
      << "tables whose last columns nobody would see";
  keep_screenshot(browser(), "story-narrow");
}

}  // namespace
}  // namespace sluice::test
