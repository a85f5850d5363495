// The next token's table, the sampler, continuations and looks into their steps.
#include "tests/browser/explorer_page.h"

namespace sluice::test {
namespace {

using nlohmann::json;

class ExplorerNext : public ExplorerPage {};

TEST_F(ExplorerNext, lists_what_may_come_as_the_server_has_it) {
  open("m=headwise&v=next&t=" + kPrompt);
  browser().wait_until("document.querySelectorAll('#next-tables tbody tr').length === 20", "twenty rows");
  const json view = ask("/api/v1/view", {{"model", "headwise"}, {"prompt", kPrompt}});
  EXPECT_EQ(browser().run("return Number(document.querySelector('#next-tables tbody tr').dataset.id)"),
            view["next"]["top"][0]["id"]);
}

TEST_F(ExplorerNext, shows_what_the_sampler_leaves_out) {
  open("m=headwise&v=next&K=3&t=" + kPrompt);
  browser().wait_until("document.querySelectorAll('#next-tables tbody tr').length === 20", "twenty rows");
  EXPECT_EQ(browser().run("return [...document.querySelectorAll('#next-tables tbody tr')].filter((row) => "
                          "row.textContent.includes('left out')).length"),
            17);
}

TEST_F(ExplorerNext, goes_on_and_lets_one_look_into_a_step) {
  open("m=headwise&v=next&L=12&T=0&t=" + kPrompt);
  browser().click("#generate");
  browser().wait_until(
      "document.querySelectorAll('#said button').length === 12 && "
      "document.getElementById('generate').textContent === 'Generate'",
      "twelve new tokens");
  const json expected = browser().run_async(
      "const answer = await fetch('/api/v1/generate', {method: 'POST', headers: {'Content-Type': "
      "'application/json'}, body: JSON.stringify({model: 'headwise', prompt: arguments[0], max_tokens: "
      "12})});"
      "return JSON.parse(/event: done\\ndata: (.*)/.exec(await answer.text())[1]).text;",
      {kPrompt});
  EXPECT_EQ(text_of("#said"), kPrompt + expected.get<std::string>());
  browser().click("#said [data-step='3']");
  browser().wait_until("document.querySelectorAll('.strip button').length === 14",
                       "the prompt and the three tokens before");
  browser().wait_until("document.querySelector('#next-tables tbody tr')?.textContent.includes('taken')",
                       "the token that was taken, likeliest at temperature 0");
  browser().reload();
  browser().wait_until(
      "document.querySelectorAll('.strip button').length === 14 && document.querySelector('#said "
      "[data-step=\"3\"]')?.getAttribute('aria-pressed') === 'true'",
      "the same after a reload");
}

TEST_F(ExplorerNext, stops_when_told) {
  open("m=deep&v=next&L=512&t=" + kPrompt);
  browser().click("#generate");
  browser().wait_until("document.querySelectorAll('#said > *').length > 2", "first tokens");
  browser().click("#generate");
  browser().wait_until("document.getElementById('generate').textContent === 'Generate'", "an end");
  EXPECT_LE(count("#said button").get<int>(), 512);
}

// A model may have more tokens than its tokenizer knows; without their numbers all of them would look alike.
TEST_F(ExplorerNext, tells_tokens_without_a_text_apart_by_their_numbers) {
  open("m=headwise&t=" + kPrompt);
  EXPECT_EQ(browser().run_async("const {tokenName} = await import('/shared/dom.js');"
                                "return [tokenName({id: 300, token: ''}), tokenName({id: 7, token: null}), "
                                "tokenName({id: 32, token: ' '})];"),
            (nlohmann::json{"#300", "7", "·"}));
  EXPECT_EQ(browser().run_async("const {Pass} = await import('/shared/pass.js');"
                                "return new Pass({}, {}, {ids: [97, 300], tokens: ['a', '']}).tokens;"),
            (nlohmann::json{"a", "#300"}));
}

// The random model has 64 tokens more than its tokenizer.
TEST_F(ExplorerNext, shows_tokens_without_a_text_by_their_numbers_while_they_come_and_after) {
  open("m=deep&v=next&T=2&S=1&L=24&t=" + kPrompt);
  browser().click("#generate");
  browser().wait_until(
      "document.querySelectorAll('#said button').length === 24 && "
      "document.getElementById('generate').textContent === 'Generate' && location.hash.includes('g=')",
      "a continuation");
  const json shown = browser().run(
      "const ids = new URLSearchParams(location.hash.slice(1)).get('g')?.split('.').map(Number) ?? [];"
      "return ids.map((id, i) => [id, document.querySelector(`#said [data-step='${i}']`).textContent]);");
  int unknown = 0;
  for (const json& token : shown) {
    if (token[0] < 256) continue;
    ++unknown;
    EXPECT_EQ(token[1], "#" + std::to_string(token[0].get<int>()));
  }
  EXPECT_GT(unknown, 0) << "take another seed";
}

TEST_F(ExplorerNext, writes_back_the_numbers_that_are_used) {
  open("m=headwise&v=next&t=" + kPrompt);
  browser().wait_until("document.getElementById('length')", "the fields");
  for (const auto& [field, typed, used] :
       {std::tuple{"length", "9999", "512"}, {"topK", "-3", "0"}, {"seed", "1.7", "1"}}) {
    EXPECT_EQ(browser().run("const field = document.getElementById(arguments[0]); field.value = arguments[1];"
                            "field.dispatchEvent(new Event('change')); return field.value;",
                            {field, typed}),
              used);
  }
}

TEST_F(ExplorerNext, gives_a_continuation_up_when_the_prompt_is_another) {
  open("m=deep&v=next&L=512&t=" + kPrompt);
  browser().click("#generate");
  browser().wait_until("document.querySelectorAll('#said > *').length > 2", "first tokens");
  browser().type("#prompt", "^xyz");
  browser().wait_until(
      "document.querySelectorAll('.strip button').length === 4 && document.getElementById('generate')"
      ".textContent === 'Generate' && document.getElementById('said').textContent === '^xyz'",
      "the new prompt alone");
  EXPECT_EQ(browser().run("return new URLSearchParams(location.hash.slice(1)).get('g')"), json())
      << "what continues another text";
}

TEST_F(ExplorerNext, keeps_what_has_come_while_another_view_is_open) {
  open("m=deep&v=next&L=512&t=" + kPrompt);
  browser().click("#generate");
  browser().wait_until("document.querySelectorAll('#said > *').length > 10", "first tokens");
  const std::string before = text_of("#said");
  browser().click("#tab-lens");
  browser().wait_until("document.getElementById('lens')", "another view");
  browser().click("#tab-next");
  browser().wait_until("document.getElementById('said')", "the continuation again");
  EXPECT_EQ(text_of("#said").substr(0, before.size()), before);
  browser().run(
      "if (document.getElementById('generate').textContent === 'Stop') "
      "document.getElementById('generate').click()");
  browser().wait_until("document.getElementById('generate').textContent === 'Generate'", "an end");
}

}  // namespace
}  // namespace sluice::test
