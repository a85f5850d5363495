// What a link says that cannot be shown, and which model it names: nothing is taken for something else in
// silence.
#include "tests/browser/explorer_page.h"

namespace sluice::test {
namespace {

using nlohmann::json;

class ExplorerLinks : public ExplorerPage {
 protected:
  void expect_said(const std::string& fragment, const std::string& words) {
    browser().open("about:blank");  // otherwise only the fragment changes, and the page is not built anew
    open("m=headwise&t=" + kPrompt + "&" + fragment);
    EXPECT_NE(text_of("#notes").find(words), std::string::npos) << fragment << ": " << text_of("#notes");
  }
};

TEST_F(ExplorerLinks, are_not_trusted_with_any_number) {
  expect_said("x=1_all_0_0_0_constant_NaN", "“1_all_0_0_0_constant_NaN” is no change of gates");
  EXPECT_EQ(count("#tab-break .count"), 0) << "half a change is none";
  expect_said("x=1_all_0_0_0_constant", "is no change of gates");
  expect_said("x=1_layer_a_0_0_open_1", "is no change of gates");
  expect_said("p=5000", "no token 5000. The last is 10");
  expect_said("p=a.b", "“a”, “b” are no positions");
  expect_said("l=-1", "the layer “-1” is no whole number");
  expect_said("h=x", "the head “x” is no whole number");
  expect_said("g=1.2.999999", "headwise has no token 999999, the last is 255");
  expect_said("g=1.2.999999&n=2", "headwise has no token 999999, the last is 255");
  expect_said("n=99", "no generated token 99");
  expect_said("T=99", "the temperature “99” is no number from 0 to 2");
  expect_said("P=7", "the top-p “7” is no number from 0.05 to 1");
  expect_said("S=x", "the seed “x” is no whole number");
  expect_said("f=2", "“2” is neither 0 nor 1");
  expect_said("q=1", "“q” means nothing here");
}

TEST_F(ExplorerLinks, are_no_longer_spoken_of_once_the_reader_has_moved_on) {
  expect_said("T=99", "temperature");
  browser().choose("#model", "baseline");
  browser().wait_until("location.hash.includes('m=baseline') && document.getElementById('notes').hidden",
                       "no word about the link");
}

TEST_F(ExplorerLinks, name_the_model_also_if_it_is_the_one_that_comes_by_itself) {
  open("t=" + kPrompt);
  browser().wait_until("location.hash.includes('m=headwise')", "the model in the URL");
  browser().run("location.hash = 't=%5Eabc'");
  browser().wait_until(
      "document.querySelectorAll('.strip button').length === 4 && location.hash.includes('m=headwise')",
      "the model in the URL of another link, too");
}

TEST_F(ExplorerLinks, say_where_a_model_is_asked_for_more_than_it_has_learned) {
  open("m=headwise&t=%5E" + std::string(129, 'a'));
  EXPECT_NE(text_of("#notes").find("headwise was made for 128 tokens, and these are 130"), std::string::npos);
  browser().type("#prompt", "^the cat");
  browser().wait_until("document.getElementById('notes').textContent.includes('nothing but letters')",
                       "that it has only read letters");
  browser().type("#prompt", kPrompt);
  browser().wait_until("document.getElementById('notes').hidden", "nothing to say");
}

TEST_F(ExplorerLinks, say_that_tokens_of_two_tokenizers_are_matched_by_position) {
  open("m=headwise&b=baseline&t=" + kPrompt);
  EXPECT_EQ(text_of("#notes"), "");
  browser().run_async(R"(
const {load, session} = await import('/explorer/session.js');
session.models.find((model) => model.id === 'baseline').tokenizer_fingerprint = 'another';
await load();)");
  EXPECT_NE(text_of("#notes").find("matched by their position only"), std::string::npos);
}

// Of a text, a model and an example that comes late, what the reader did last counts.
class ChosenModel : public ExplorerPage {
 protected:
  // Answers of the given path come when the test says so, or not at all.
  void hold(const std::string& path) {
    browser().run(R"(
const real = window.fetch;
const [held] = arguments;
window.held = [];
window.fetch = (path, options) => !String(path).includes(held) ? real(path, options)
  : new Promise((resolve, reject) => window.held.push({go: () => resolve(real(path, options)), fail: () => reject(new TypeError('cut off'))}));)",
                  {path});
  }
};

TEST_F(ChosenModel, leaves_what_is_typed_while_its_example_comes) {
  open("");
  hold("/api/v1/prompts");
  browser().choose("#model", "deep");
  browser().wait_until("window.held.length === 1", "the question for an example");
  browser().type("#prompt", kPrompt);
  browser().wait_until("document.querySelectorAll('.strip button').length === 11", "what was typed");
  browser().run("window.held[0].go()");
  browser().wait_until("location.hash.includes('m=deep')", "the model");
  EXPECT_EQ(browser().run("return document.getElementById('prompt').value"), kPrompt);
  wait_for_tokens();
}

TEST_F(ChosenModel, is_the_last_of_two_quick_choices) {
  open("");
  hold("/api/v1/prompts");
  browser().choose("#model", "deep");
  browser().wait_until("window.held.length === 1", "the question for an example");
  browser().choose("#model", "baseline");
  browser().wait_until("location.hash.includes('m=baseline')", "the second choice");
  browser().run_async(
      "window.held[0].go(); await new Promise((resolve) => setTimeout(resolve, 300)); return 0;");
  EXPECT_EQ(browser().run("return document.getElementById('model').value"), "baseline");
  EXPECT_TRUE(browser().run("return document.getElementById('prompt').value.startsWith('^')").get<bool>());
  browser().choose("#model", "deep");
  browser().wait_until("window.held.length === 2", "an example still takes the place of an example");
  browser().run("window.held[1].go()");
  browser().wait_until("location.hash.includes('m=deep')", "the third choice");
  wait_for_tokens();
}

TEST_F(ChosenModel, is_taken_also_where_no_example_comes) {
  open("");
  hold("/api/v1/prompts");
  browser().choose("#model", "deep");
  browser().wait_until("window.held.length === 1", "the question for an example");
  browser().run("window.held[0].fail()");
  browser().wait_until("location.hash.includes('m=deep') && !document.getElementById('trouble').hidden",
                       "the model, and what is wrong");
  wait_for_tokens();
}

}  // namespace
}  // namespace sluice::test
