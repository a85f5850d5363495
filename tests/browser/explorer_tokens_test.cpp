// The prompt and its tokens: typing, examples, colours, exact values, locking, the keyboard.
#include "tests/browser/explorer_page.h"

namespace sluice::test {
namespace {

using nlohmann::json;

class ExplorerTokens : public ExplorerPage {};

TEST_F(ExplorerTokens, show_an_example_when_the_page_opens) {
  open("");
  const std::string text = browser().run("return document.getElementById('prompt').value").get<std::string>();
  EXPECT_EQ(text.substr(0, 1), "^");
  EXPECT_EQ(count(".strip button"), text.size());
  EXPECT_EQ(browser().run("return document.getElementById('model').value"), "headwise");
  EXPECT_NE(text_of("#status").find("tokens"), std::string::npos);
  keep_screenshot(browser(), "explorer-light");
}

TEST_F(ExplorerTokens, follow_what_is_typed) {
  open();
  browser().type("#prompt", kPrompt);
  browser().wait_until("document.querySelectorAll('.strip button').length === 11", "a token for each letter");
  wait_for_tokens();
  EXPECT_EQ(text_of(".strip"), kPrompt);
  browser().wait_until("location.hash.includes('t=%5Eabcdefghij')", "the prompt in the URL");
}

TEST_F(ExplorerTokens, say_what_to_do_when_there_is_no_prompt) {
  open();
  browser().run(
      "const box = document.getElementById('prompt'); box.value = ''; box.dispatchEvent(new "
      "Event('input'));");
  browser().wait_until("document.querySelector('#strips .empty')", "a word about the missing prompt");
  EXPECT_NE(text_of("#strips .empty").find("Type a prompt"), std::string::npos);
}

TEST_F(ExplorerTokens, come_from_examples_of_the_nursery_and_of_five_types) {
  open();
  const std::string before = text_of(".strip");
  browser().click("[data-example='sequence 2']");
  browser().wait_until("document.querySelector('.strip').textContent !== " + json(before).dump(),
                       "another sequence");
  EXPECT_EQ(text_of(".strip").substr(0, 1), "^");
  browser().choose("#model", "deep");
  browser().wait_until("document.querySelectorAll('[data-example]').length === 5", "five types of text");
  browser().click("[data-example='code-like']");
  browser().wait_until("!document.getElementById('prompt').value.startsWith('^')", "a text of that type");
  wait_for_tokens();
}

TEST_F(ExplorerTokens, tell_exact_values_on_hover) {
  open("m=headwise&l=1&h=1&t=" + kPrompt);
  browser().wait_until("document.querySelector(\"[data-token='4']\").dataset.shown !== ''", "a gate");
  browser().hover("[data-token='4']");
  browser().wait_until("!document.getElementById('tip').hidden", "values beside the pointer");
  const json view = ask("/api/v1/view", {{"model", "headwise"}, {"prompt", kPrompt}});
  const auto six_digits = [&](const json& value) {
    return browser().run("return String(Number(arguments[0].toPrecision(6)))", {value}).get<std::string>();
  };
  const std::string surprise = six_digits(view["surprise"][4]);
  const std::string tip = text_of("#tip");
  EXPECT_NE(tip.find("surprise " + surprise), std::string::npos) << tip;
  const json shown =
      browser().run("return Number(document.querySelector(\"[data-token='4']\").dataset.shown)");
  const std::string gate = six_digits(shown);
  EXPECT_NE(tip.find("gate " + gate + " (layer 1, head 1)"), std::string::npos) << tip;
  EXPECT_NE(tip.find("attention received"), std::string::npos);
}

TEST_F(ExplorerTokens, have_colours_by_four_measures) {
  open("m=headwise&t=" + kPrompt);
  for (const char* shade : {"surprise", "received", "given", "gate"}) {
    browser().click(std::string("#strip-tools [data-value='") + shade + "']");
    browser().wait_until(
        "[...document.querySelectorAll('.strip button')].slice(1).every((button) => button.dataset.shown !== "
        "'' && "
        "button.getAttribute('aria-label').includes('" +
            std::string(shade) + "'))",
        std::string("tokens by ") + shade);
  }
  // What the last token gives adds up to one.
  browser().click("#strip-tools [data-value='given']");
  browser().wait_until(
      "Math.abs([...document.querySelectorAll('.strip button')].reduce((sum, button) => sum + "
      "Number(button.dataset.shown), 0) - 1) < 0.01",
      "shares of attention that add up to one");
}

TEST_F(ExplorerTokens, are_locked_added_and_released) {
  open("m=headwise&t=" + kPrompt);
  browser().click("[data-token='3']");
  browser().wait_until("document.querySelectorAll('.strip .locked').length === 1", "one locked token");
  browser().click("[data-token='6']", true);
  browser().wait_until("document.querySelectorAll('.strip .locked').length === 2", "two locked tokens");
  browser().wait_until("location.hash.includes('p=3.6')", "the locked tokens in the URL");
  browser().press(keys::kEscape);
  browser().wait_until("document.querySelectorAll('.strip .locked').length === 0", "no locked token");
}

TEST_F(ExplorerTokens, are_walked_with_the_keyboard_alone) {
  open("m=headwise&t=" + kPrompt);
  browser().run("document.querySelector(\"[data-token='0']\").focus()");
  browser().press(keys::kRight, true);
  browser().press(keys::kRight, true);
  browser().wait_until("document.activeElement.dataset.token === '2'", "focus on the third token");
  EXPECT_FALSE(browser().run("return document.getElementById('tip').hidden").get<bool>());
  browser().press(keys::kEnter);
  browser().wait_until("document.querySelector(\"[data-token='2']\").classList.contains('locked')",
                       "a token locked by Enter");
}

TEST_F(ExplorerTokens, follow_arrows_through_layers_and_heads) {
  open("m=headwise&t=" + kPrompt);
  browser().run("document.activeElement.blur()");
  browser().press(keys::kDown);
  browser().wait_until("document.getElementById('at-layer').textContent === 'layer 1'", "the next layer");
  browser().press(keys::kRight);
  browser().press(keys::kRight);
  browser().wait_until("document.getElementById('at-head').textContent === 'head 1'", "the second head");
  browser().press(keys::kRight);
  browser().wait_until("document.getElementById('at-head').textContent === 'all heads'", "round at the end");
  browser().press(keys::kUp);
  browser().press(keys::kUp);
  browser().wait_until("document.getElementById('at-layer').textContent === 'layer 2'",
                       "round at the beginning");
}

TEST_F(ExplorerTokens, that_are_too_many_are_refused_with_a_word) {
  expect_refused_requests();
  open();
  browser().run(
      "const box = document.getElementById('prompt'); box.value = '^' + 'a'.repeat(3000); "
      "box.dispatchEvent(new Event('input'));");
  browser().wait_until("!document.getElementById('trouble').hidden", "what is wrong");
  EXPECT_NE(text_of("#trouble"), "");
  // And the page goes on.
  browser().type("#prompt", kPrompt);
  browser().wait_until(
      "document.getElementById('trouble').hidden && document.querySelectorAll('.strip button').length === 11",
      "tokens again");
}

TEST_F(ExplorerTokens, tell_anew_where_a_token_looks_when_it_is_locked) {
  open("m=headwise&l=1&h=1&t=" + kPrompt);
  browser().hover("[data-token='4']");
  browser().wait_until("document.getElementById('tip').textContent.includes('attention from 10:')",
                       "where the last token looks");
  browser().click("[data-token='4']");
  browser().wait_until("document.getElementById('tip').textContent.includes('attention from 4:')",
                       "where the locked token looks");
  browser().click("[data-token='6']", true);
  browser().click("#strip-tools [data-value='given']");
  browser().wait_until(
      "document.getElementById('strip-note').textContent.includes('tokens 4 and 6 look, on average')",
      "whose eyes these are");
}

TEST_F(ExplorerTokens, leave_digits_to_the_views_unless_something_is_typed) {
  open("m=headwise&t=" + kPrompt);
  const auto expect_view = [&](const char* digit, const std::string& view) {
    browser().press(digit);
    browser().wait_until("document.getElementById('view').dataset.view === '" + view + "'", view);
  };
  browser().click("#tab-attention");
  expect_view("2", "gates");
  browser().click("#first");
  expect_view("4", "next");
  browser().run("document.getElementById('scale').focus()");
  expect_view("1", "attention");
  browser().click("#tab-next");
  browser().wait_until("document.getElementById('seed')", "a field for a number");
  browser().run("document.getElementById('seed').focus()");
  browser().press("2");
  EXPECT_EQ(browser().run("return document.getElementById('view').dataset.view"), "next");
}

TEST_F(ExplorerTokens, stay_with_their_head_when_arrows_move_between_tabs) {
  open("m=headwise&l=1&h=0&t=" + kPrompt);
  browser().run("document.getElementById('tab-attention').focus()");
  browser().press(keys::kRight);
  browser().wait_until("document.getElementById('view').dataset.view === 'gates'", "the next tab");
  EXPECT_EQ(text_of("#at-head"), "head 0");
}

TEST_F(ExplorerTokens, say_why_they_have_no_colour) {
  open("m=headwise&b=baseline&c=gate&t=" + kPrompt);
  EXPECT_NE(text_of("#strip-note").find("baseline has no gate, so its tokens have no colour"),
            std::string::npos);
}

TEST_F(ExplorerTokens, wait_in_the_queue_for_a_time_that_is_told) {
  open("m=headwise&t=" + kPrompt);
  browser().run(R"(
const real = window.fetch;
window.fetch = (path, options) => {
  if (String(path).includes('/queue')) return Promise.resolve(new Response(JSON.stringify({waiting: 1,
    running: {kind: 'completion', model: 'deep', yours: false, seconds: 3, done: 5, total: 20}, yours: [{kind: 'view', place: 1, waited_s: 1, expected_s: 8.2}]})));
  return String(path).includes('/view') ? new Promise((resolve) => setTimeout(() => resolve(real(path, options)), 1500)) : real(path, options);
};)");
  browser().type("#prompt", "^xyz");
  browser().wait_until("document.getElementById('status').textContent === 'waiting, place 1, about 9 s'",
                       "place and time");
  browser().wait_until("document.querySelectorAll('.strip button').length === 4", "the tokens");
}

// The largest value that tokens show, from the n-th on, as the legend writes it.
constexpr const char* kLargestShown = R"(
return Math.max(...[...document.querySelectorAll('.strip')].flatMap((strip) => [...strip.children].slice(arguments[0])
  .map((button) => Number(button.dataset.shown)))).toFixed(2);)";

TEST_F(ExplorerTokens, of_two_panes_share_one_scale) {
  open("m=headwise&b=%3D&s=maximum&x=1_all_0_0_0_closed_0.5&t=" + kPrompt);
  browser().wait_until(
      "document.querySelectorAll('.strip').length === 2 && "
      "[...document.querySelectorAll('.strip button')].every((button) => button.dataset.shown)",
      "gates in both panes");
  const json most = browser().run(kLargestShown, {0});
  EXPECT_EQ(browser().run("return document.querySelector('.legend').lastChild.textContent"), most)
      << "closed gates on the right have no scale of their own";
}

TEST_F(ExplorerTokens, are_coloured_without_the_first_on_demand) {
  open("m=baseline&c=received&s=maximum&l=0&h=0");
  browser().wait_until("document.querySelector(\"[data-token='0']\").style.backgroundColor !== ''",
                       "colours");
  browser().click("#first");
  browser().wait_until("document.querySelector(\"[data-token='0']\").style.backgroundColor === ''",
                       "a first token without a colour");
  EXPECT_EQ(browser().run("return document.querySelector('.legend').lastChild.textContent"),
            browser().run(kLargestShown, {1}));
}

// Letters of the nursery say nothing to a model of prose, and are a text of the reader's only if typed.
TEST_F(ExplorerTokens, are_of_the_kind_that_the_chosen_model_reads) {
  open("");
  browser().choose("#model", "deep");
  browser().wait_until(
      "document.getElementById('model').value === 'deep' && "
      "!document.getElementById('prompt').value.startsWith('^')",
      "prose in place of letters");
  wait_for_tokens();
  browser().back();
  browser().wait_until(
      "document.getElementById('model').value === 'headwise' && "
      "document.getElementById('prompt').value.startsWith('^')",
      "model and text of before, in one step");
  wait_for_tokens();
  browser().type("#prompt", kPrompt);
  browser().wait_until("document.querySelectorAll('.strip button').length === 11", "what was typed");
  browser().choose("#model", "deep");
  browser().wait_until("location.hash.includes('m=deep')", "the other model");
  EXPECT_EQ(browser().run("return document.getElementById('prompt').value"), kPrompt);
}

}  // namespace
}  // namespace sluice::test
