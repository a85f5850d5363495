// The URL holds the state: back, forward, reload, hostile links. Exports. Colours. Small screens. Marks of
// drawing times.
#include "tests/browser/explorer_page.h"

namespace sluice::test {
namespace {

using nlohmann::json;

class ExplorerState : public ExplorerPage {
 protected:
  // Presses an export button and returns {name, type, size, start: the first characters of the file}.
  json saved(const std::string& file) {
    browser().run(
        "window.savedFile = null; document.addEventListener('sluice:saved', async ({detail}) => {"
        "window.savedFile = {name: detail.name, type: detail.type, size: detail.size, start: (await "
        "detail.blob.slice(0, 400000).text())}; }, {once: true});");
    browser().click("[data-export='" + file + "']");
    browser().wait_until("window.savedFile", "the file " + file);
    return browser().run("return window.savedFile");
  }
};

TEST_F(ExplorerState, goes_back_and_forward) {
  open("m=headwise&t=" + kPrompt);
  browser().click("#tab-gates");
  browser().wait_until("document.getElementById('view').dataset.view === 'gates'", "the gates");
  browser().click("[data-token='5']");
  browser().wait_until("document.querySelector('.strip .locked')", "a locked token");
  browser().back();
  browser().wait_until("!document.querySelector('.strip .locked')", "no locked token after going back");
  EXPECT_EQ(browser().run("return document.getElementById('view').dataset.view"), "gates");
  browser().back();
  browser().wait_until("document.getElementById('view').dataset.view === 'attention'",
                       "attention after going back once more");
  browser().forward();
  browser().forward();
  browser().wait_until(
      "document.querySelector('.strip .locked')?.dataset.token === '5' && "
      "document.getElementById('view').dataset.view === 'gates'",
      "all of it after going forward");
}

// All in one task: nothing is drawn in between, and no timer runs.
TEST_F(ExplorerState, goes_back_one_step_however_soon) {
  open("m=headwise&t=" + kPrompt);
  browser().run(
      "document.getElementById('tab-gates').click(); document.querySelector(\"[data-token='5']\").click();"
      "history.back();");
  browser().wait_until(
      "document.getElementById('view')?.dataset.view === 'gates' && !location.hash.includes('p=5') && "
      "!document.querySelector('.strip .locked')",
      "the gates, with no locked token");
  browser().run("history.forward()");
  browser().wait_until("document.querySelector('.strip .locked')?.dataset.token === '5'",
                       "the token again, going forward");
}

// What is pressed is a place to come back to, however fast; only what is walked through is not.
TEST_F(ExplorerState, goes_back_through_every_view_that_was_opened) {
  open("m=headwise&t=" + kPrompt);
  browser().click("#tab-gates");
  browser().click("#tab-lens");
  browser().back();
  browser().wait_until("document.getElementById('view').dataset.view === 'gates'", "the view before");
  browser().back();
  browser().wait_until("document.getElementById('view').dataset.view === 'attention'", "the first view");
}

// What follows a held key is one step, whose last place is the one that is gone back to.
TEST_F(ExplorerState, keeps_the_last_place_of_a_walk_before_the_next_step) {
  open("m=headwise&t=" + kPrompt);
  browser().run(
      "for (let i = 0; i < 2; ++i) document.body.dispatchEvent(new KeyboardEvent('keydown', {key: "
      "'ArrowDown', "
      "bubbles: true}));"
      "document.getElementById('tab-gates').click(); history.back();");
  browser().wait_until("document.getElementById('view')?.dataset.view === 'attention'", "the view before");
  EXPECT_EQ(text_of("#at-layer"), "layer 2");
}

TEST_F(ExplorerState, survives_a_reload) {
  open("m=headwise&b=baseline&v=gates&c=surprise&l=2&h=1&p=4&s=log&f=0&t=" + kPrompt);
  const std::string before = browser().run("return location.hash").get<std::string>();
  browser().reload();
  wait_for_tokens();
  EXPECT_EQ(browser().run("return location.hash"), before);
  EXPECT_EQ(text_of("#at-layer"), "layer 2");
  EXPECT_EQ(count(".strip"), 2);
}

TEST_F(ExplorerState, takes_no_harm_from_a_strange_link) {
  open(
      "m=nobody&b=nobody&v=%00&l=999&h=-7&p=9999.x.-3&s=%F0%9F%A6%86&x=1_%3Cscript%3E_9999_9_9_zap_NaN&T="
      "1e99&t=" +
      kPrompt);
  EXPECT_EQ(count(".strip button"), 11);
  EXPECT_EQ(text_of("#at-layer"), "layer 2");
}

TEST_F(ExplorerState, says_what_of_a_link_cannot_be_shown) {
  open("m=nobody&b=noone&l=9&h=9&v=nowhere&x=1_all_0_0_0_zap_1~1_layer_7_0_0_closed_1&t=" + kPrompt);
  const std::string notes = text_of("#notes");
  for (const char* words :
       {"no model “nobody”", "no model “noone”", "no layer 9. This is layer 2", "no head 9. This is head 1",
        "“nowhere” is none of attention", "“1_all_0_0_0_zap_1” is no change",
        "A change does nothing: headwise "
        "has no layer 7"})
    EXPECT_NE(notes.find(words), std::string::npos) << words << " in: " << notes;
  EXPECT_EQ(count("#tab-break .count"), 0) << "nothing is changed";
  open("m=headwise&t=" + kPrompt);
  EXPECT_EQ(text_of("#notes"), "");
}

TEST_F(ExplorerState, takes_an_example_for_a_link_without_a_text_also_in_an_open_tab) {
  open("m=headwise&t=" + kPrompt);
  browser().run("location.hash = 'm=headwise&l=1'");
  browser().wait_until("document.querySelectorAll('.strip button').length === 48", "the first example");
  EXPECT_EQ(text_of("#at-layer"), "layer 1");
}

TEST_F(ExplorerState, keeps_a_prompt_empty_that_was_emptied) {
  open("m=headwise&t=" + kPrompt);
  browser().run(
      "const box = document.getElementById('prompt'); box.value = ''; box.dispatchEvent(new "
      "Event('input'));");
  browser().wait_until("document.querySelector('#strips .empty')", "a word about no tokens");
  browser().reload();
  browser().wait_until(
      "document.getElementById('prompt')?.value === '' && "
      "document.querySelector('#strips .empty')?.textContent.includes('No tokens yet')",
      "no example in its place");
}

TEST_F(ExplorerState, exports_views_as_svg_png_and_csv) {
  open("m=headwise&l=1&h=0&t=" + kPrompt);
  browser().wait_until("document.querySelector('.map')?.dataset.drawn === '1 0'", "the large map");
  const json svg = saved("attention.svg");
  EXPECT_EQ(svg["name"], "sluice-attention.svg");
  EXPECT_EQ(svg["start"].get<std::string>().substr(0, 5), "<?xml");
  const json png = saved("attention.png");
  EXPECT_EQ(png["type"], "image/png");
  EXPECT_GT(png["size"].get<int>(), 1000);
  const json csv = saved("attention.csv");
  EXPECT_EQ(csv["start"].get<std::string>().substr(0, 13), "model,changes");
  EXPECT_NE(csv["start"].get<std::string>().find("headwise,,1,0,0,^,0,^,1\n"), std::string::npos)
      << csv["start"];
  for (const char* file : {"grid.svg", "grid.csv", "tokens.svg", "tokens.png", "tokens.csv"})
    EXPECT_GT(saved(file)["size"].get<int>(), 100) << file;
}

TEST_F(ExplorerState, exports_all_that_is_known_of_a_token_whatever_its_colour) {
  open("m=headwise&l=1&h=0&c=surprise&t=" + kPrompt);
  const std::string csv = saved("tokens.csv")["start"];
  EXPECT_EQ(csv.substr(0, csv.find('\n')),
            "model,changes,position,id,token,surprise,layer,head,gate,attention_received,attention_given,"
            "given_by");
  const json row = browser().run("return arguments[0].split('\\n')[5].split(',')", {csv});
  ASSERT_EQ(row.size(), 12U) << csv;
  EXPECT_EQ(row[6], "1");
  EXPECT_EQ(row[7], "0");
  for (const size_t column : {8U, 9U, 10U}) EXPECT_NE(row[column], "") << column;
  EXPECT_EQ(saved("grid.csv")["name"], "sluice-heads.csv") << "not the maps, but a line for each head";
}

TEST_F(ExplorerState, exports_every_other_view) {
  struct View {
    const char *fragment, *name, *ready;
  };
  const View views[] = {{"v=gates", "gates", "document.getElementById('fact-gate')"},
                        {"v=break&x=1_all_0_0_0_open_1", "effect", "document.getElementById('fact-kl')"},
                        {"v=next", "next", "document.querySelector('#next-tables tbody tr')"},
                        {"v=lens", "lens", "document.querySelector('.lens td')"}};
  for (const View& view : views) {
    open(std::string("m=headwise&") + view.fragment + "&t=" + kPrompt);
    browser().wait_until(view.ready, view.name);
    for (const char* form : {".svg", ".png", ".csv"})
      EXPECT_GT(saved(view.name + std::string(form))["size"].get<int>(), 100) << view.name << form;
  }
}

TEST_F(ExplorerState, follows_the_system_into_the_dark_and_can_be_switched) {
  browser().prefer_dark(true);
  open("m=headwise&t=" + kPrompt);
  const auto background = [&] {
    return browser().run("return getComputedStyle(document.body).backgroundColor").get<std::string>();
  };
  const std::string dark = background();
  keep_screenshot(browser(), "explorer-dark");
  browser().click("#theme");
  browser().wait_until("getComputedStyle(document.body).backgroundColor !== '" + dark + "'", "light colours");
  browser().reload();
  wait_for_tokens();
  EXPECT_NE(background(), dark) << "the choice is kept";
  browser().run("localStorage.clear()");
}

TEST_F(ExplorerState, fits_a_narrow_screen) {
  browser().resize(390, 844);
  for (const char* view : {"attention", "gates", "break&x=1_all_0_0_0_constant_0.5", "next", "lens"}) {
    open("m=headwise&b=baseline&t=" + kPrompt + "&v=" + view);
    EXPECT_LE(browser().run("return document.documentElement.scrollWidth").get<int>(), 390) << view;
    browser().wait_until(
        "document.querySelector('[aria-selected=true]').getBoundingClientRect().right <= 390",
        "the tab of the view");
  }
  keep_screenshot(browser(), "explorer-narrow");
}

TEST_F(ExplorerState, leaves_marks_of_how_long_drawing_took) {
  open("m=headwise&l=1&h=0&t=" + kPrompt);
  // In no order: a row of the grid is drawn when it has come into sight, which may be after the large map.
  for (const std::string mark : {"sluice:large-map", "sluice:strip", "sluice:grid-row", "sluice:picture"})
    browser().wait_until("performance.getEntriesByName('" + mark + "').length > 0", "the mark " + mark);
}

}  // namespace
}  // namespace sluice::test
