// Small and large maps, the scale, gates down to channels, the logit lens, two panes in step.
#include "tests/browser/explorer_page.h"

namespace sluice::test {
namespace {

using nlohmann::json;

class ExplorerMaps : public ExplorerPage {
 protected:
  void wait_for_large_map(const std::string& layer_and_head) {
    browser().wait_until(
        "[...document.querySelectorAll('.large .map')].every((map) => map.dataset.drawn === '" +
            layer_and_head + "')",
        "the large map of " + layer_and_head);
  }

  // Red, green and blue of the large map's canvas, at shares of its side.
  json pixel(double x, double y) {
    return browser().run(
        "const canvas = document.querySelector('.large .map canvas');"
        "return [...canvas.getContext('2d').getImageData(Math.floor(canvas.width * arguments[0]), "
        "Math.floor(canvas.height * arguments[1]), 1, 1).data]",
        {x, y});
  }
};

TEST_F(ExplorerMaps, open_large_when_pressed) {
  open("m=headwise&t=" + kPrompt);
  browser().wait_until("document.querySelectorAll('.grid canvas').length === 3", "a canvas for every row");
  EXPECT_EQ(count(".cell"), 6);
  browser().click(".cell[data-layer='2'][data-head='1']");
  wait_for_large_map("2 1");
  EXPECT_EQ(text_of(".view h2:last-of-type").find("(not"), std::string::npos);
  EXPECT_EQ(
      browser().run(
          "return "
          "document.querySelector('.cell[data-layer=\"2\"][data-head=\"1\"]').getAttribute('aria-pressed')"),
      "true");
}

TEST_F(ExplorerMaps, are_fetched_only_when_in_sight) {
  open("m=deep&t=" + kPrompt);
  browser().wait_until("performance.getEntriesByName('sluice:grid-row').length > 0", "rows of small maps");
  const auto fetched = [&] {
    return browser()
        .run(
            "return performance.getEntriesByType('resource').filter((entry) => "
            "entry.name.endsWith('/grid')).length")
        .get<int>();
  };
  EXPECT_EQ(count(".cell"), kDeepLayers * kDeepHeads);
  EXPECT_LT(fetched(), kDeepLayers);
  browser().run("const grid = document.querySelector('.grid'); grid.scrollTop = grid.scrollHeight;");
  browser().wait_until("document.querySelector(\".grid canvas[data-layer='23']\")", "the last row");
  // A canvas costs a browser time with every frame.
  EXPECT_EQ(count(".grid canvas[data-layer='0']"), 0);
  EXPECT_LT(count("canvas"), kDeepLayers);
}

// What is cut off at the right is not missed by who does not know that it is there.
TEST_F(ExplorerMaps, of_sixteen_heads_are_all_in_sight) {
  open("m=headwise&t=" + kPrompt);
  const json sizes = browser().run_async(R"(
const {Grid} = await import('/explorer/grid.js');
const {element} = await import('/shared/dom.js');
const grid = new Grid({name: 'many', note: '', model: {layers: 2, heads: 16}, pass: {has: () => []}});
const view = document.getElementById('view');
view.classList.add('broad');
view.replaceChildren(element('section', {class: 'card'}, grid.element));
const sizes = [grid.element.scrollWidth, grid.element.clientWidth];
grid.end();
return sizes;)");
  EXPECT_LE(sizes[0], sizes[1]);
}

TEST_F(ExplorerMaps, lie_over_their_cells) {
  open("m=headwise&t=" + kPrompt);
  browser().wait_until("document.querySelectorAll('.grid canvas').length === 3", "small maps");
  // In the middle of every cell of the second row, below the diagonal: is something drawn?
  const json drawn = browser().run(R"(
const canvas = document.querySelector('.grid canvas[data-layer="1"]');
const canvasBox = canvas.getBoundingClientRect();
return [...document.querySelectorAll('.cell[data-layer="1"]')].map((cell) => {
  const box = cell.getBoundingClientRect();
  const at = (x, y) => canvas.getContext('2d').getImageData(Math.floor(box.left - canvasBox.left + box.width * x),
    Math.floor(box.top - canvasBox.top + box.height * y), 1, 1).data[3];
  return [at(0.3, 0.7), at(0.7, 0.3)];
}))");
  EXPECT_EQ(drawn, json({{255, 0}, {255, 0}}));
}

// A value that is alone in its row and column, on a screen that has a tenth of the pixels.
TEST_F(ExplorerMaps, keep_narrow_lines_on_a_small_screen) {
  open("m=headwise&t=" + kPrompt);
  const json darkest = browser().run_async(R"(
const {drawMap} = await import('/shared/map_pixels.js');
const {table} = await import('/shared/colors.js');
const values = new Float32Array(1000 * 1000);
for (let row = 0; row < 1000; ++row) if (row >= 457) values[row * 1000 + 457] = 1;
const image = new ImageData(100, 100);
drawMap(image, {values, rows: 1000, columns: 1000, causal: true}, {x: 0, y: 0, wide: 100, high: 100}, {kind: 'linear', withoutFirst: false});
const pixels = new Uint32Array(image.data.buffer);
return [pixels.filter((pixel) => pixel === table().packed[255]).length, pixels[99], pixels[99 * 100]  === table().packed[0]];)");
  EXPECT_EQ(darkest, json({55, 0, true}));  // rows 45 to 99; nothing above the diagonal; the palest elsewhere
}

TEST_F(ExplorerMaps, keep_their_sums_beside_them_when_the_window_shrinks) {
  open("m=headwise&t=" + kPrompt);
  wait_for_large_map("0 -1");
  browser().resize(390, 844);
  browser().wait_until(
      "(() => { const box = (name) => document.querySelector('.large ' + name).getBoundingClientRect();"
      "return box('.map').width < 300 && Math.abs(box('.map').height - box('.map').width) < 1 &&"
      "Math.abs(box('.by-query').height - box('.map').height) < 1 &&"
      "Math.abs(box('.by-key').width - box('.map').width) < 1; })()",
      "sums as long as the map's sides");
  browser().resize(1280, 900);
}

TEST_F(ExplorerMaps, show_what_is_hovered_in_numbers) {
  open("m=headwise&l=1&h=0&t=" + kPrompt);
  wait_for_large_map("1 0");
  browser().hover(".large .map");
  browser().wait_until("document.getElementById('tip').textContent.includes('query 5, key 5')",
                       "query and key under the pointer");
  EXPECT_NE(text_of("#tip").find("attention 0."), std::string::npos);
}

TEST_F(ExplorerMaps, change_with_the_scale_and_without_the_first_token) {
  open("m=baseline&l=1&h=0&t=" + kPrompt);
  wait_for_large_map("1 0");
  EXPECT_EQ(browser().run("return document.querySelector('.map').dataset.high"), "1");
  const json linear = pixel(0.02, 0.97);
  const json unseen = pixel(0.97, 0.02);
  EXPECT_EQ(unseen[3], 0) << "what no query sees is left out";
  browser().choose("#scale", "log");
  browser().wait_until("location.hash.includes('s=log')", "the scale in the URL");
  const json logarithmic = pixel(0.02, 0.97);
  EXPECT_LT(logarithmic[0].get<int>(), linear[0].get<int>())
      << "small shares are darker on a logarithmic scale";
  browser().choose("#scale", "maximum");
  browser().click("#first");
  browser().wait_until("Number(document.querySelector('.map').dataset.high) < 1",
                       "the maximum of the other tokens");
  const json without = pixel(0.02, 0.97);
  EXPECT_GT(without[0].get<int>(), logarithmic[0].get<int>()) << "the first column is left pale";
}

TEST_F(ExplorerMaps, of_gates_name_heads_and_go_down_to_channels) {
  open("m=deep&v=gates&l=3&t=" + kPrompt);
  browser().wait_until("document.querySelector('[data-map=head]')?.dataset.drawn === '3'", "gates by head");
  browser().click("[data-map='head']");
  browser().wait_until(
      "document.querySelector('[data-map=channel]')?.getAttribute('aria-label')?.includes('16 channels by 11 "
      "tokens')",
      "channels of the pressed head");
  EXPECT_EQ(count(".chart svg"), 2);
  browser().run(
      "document.addEventListener('sluice:saved', async ({detail}) => { window.table = await "
      "detail.blob.text(); }, {once: true});");
  browser().click("[data-export='gates.csv']");
  browser().wait_until("window.table", "the file");
  EXPECT_EQ(browser().run("return window.table.trim().split('\\n').length"),
            1 + 11 * kDeepHeads + 11 * kDeepChannels)
      << "heads, and the channels of the one that is open";
  keep_screenshot(browser(), "gates");
}

TEST_F(ExplorerMaps, of_gates_agree_with_the_server) {
  open("m=headwise&v=gates&l=1&h=0&t=" + kPrompt);
  browser().wait_until("document.getElementById('fact-gate')", "the mean gate");
  const json view = ask("/api/v1/view", {{"model", "headwise"}, {"prompt", kPrompt}});
  const double mean = view["layers"][1]["gates"][0]["by_head"][0];
  EXPECT_NEAR(std::stod(text_of("#fact-gate").substr(0, 5)), mean, 0.0015);
}

TEST_F(ExplorerMaps, say_so_where_a_model_has_no_gate) {
  open("m=baseline&v=gates&t=" + kPrompt);
  browser().wait_until("document.querySelector('.view .empty')", "a word about the missing gate");
  EXPECT_NE(text_of(".view .empty").find("baseline has no gate"), std::string::npos);
}

TEST_F(ExplorerMaps, of_guesses_have_a_cell_for_every_layer_and_position) {
  open("m=headwise&v=lens&t=" + kPrompt);
  browser().wait_until("document.querySelectorAll('.lens td').length === 33",
                       "three layers of eleven positions");
  EXPECT_EQ(count(".lens tbody tr:first-child td.final"), 11) << "the last layer agrees with itself";
  browser().hover(".lens td");
  browser().wait_until("document.getElementById('tip').textContent.includes('layer 2')",
                       "guesses beside the pointer");
}

TEST_F(ExplorerMaps, of_guesses_say_which_tokens_they_are_of) {
  open("m=deep&v=lens&t=" + std::string(100, 'a'));
  browser().wait_until("document.querySelector('.lens td')", "guesses");
  EXPECT_EQ(text_of("#lens .range").find("Tokens 36 to 99 of 100"), 0U) << text_of("#lens .range");
  browser().open("about:blank");
  open("m=deep&v=lens&t=" + kPrompt);
  browser().wait_until("document.querySelectorAll('.lens td').length === 24 * 11", "guesses for all tokens");
  EXPECT_EQ(count("#lens .range"), 0);
}

// One that cannot be drawn must not keep all others from being drawn.
TEST_F(ExplorerMaps, are_drawn_also_behind_one_that_fails) {
  open("m=headwise&t=" + kPrompt);
  EXPECT_EQ(browser().run_async(R"(
const {Grid} = await import('/explorer/grid.js');
const map = {head: 0, low: 0, high: 1, rows: 2, columns: 2, values: Float32Array.of(1, 0, 0.5, 0.5), causal: true};
const small = (kind, layer) => Promise.resolve(layer ? [map] : [{head: 0}]);
const grid = new Grid({name: 'torn', note: '', model: {layers: 3, heads: 1}, pass: {has: () => undefined, small}});
document.getElementById('view').replaceChildren(grid.element);
await new Promise((resolve) => setTimeout(resolve, 500));
grid.end();
return [...grid.element.querySelectorAll('canvas')].map((canvas) => canvas.dataset.layer);)"),
            (json{"1", "2"}));
  browser().console_errors();  // the failure is one, and is meant
}

TEST_F(ExplorerMaps, of_gates_keep_nothing_of_another_head) {
  expect_refused_requests();
  open("m=deep&v=gates&l=3&t=" + kPrompt);
  browser().wait_until("document.getElementById('fact-gate')", "figures of the layer");
  browser().run(R"(
const real = window.fetch;
window.fetch = (path, options) => String(options?.body).includes('"channels"')
  ? new Promise((resolve) => (window.refuse = () => resolve(new Response('{"error": {"message": "no memory"}}', {status: 500})))) : real(path, options);)");
  browser().click("[aria-label='Next head']");
  browser().wait_until("window.refuse && !document.getElementById('fact-gate')", "no figures of all heads");
  EXPECT_EQ(count(".view .chart svg"), 0);
  browser().run("window.refuse()");
  browser().wait_until("document.querySelector('.view .trouble')?.textContent.includes('no memory')",
                       "what went wrong");
}

TEST_F(ExplorerMaps, of_two_models_move_together) {
  open("m=headwise&b=baseline&c=received&t=" + kPrompt);
  browser().wait_until(
      "document.querySelectorAll('.strip').length === 2 && document.querySelectorAll('.large .map').length "
      "=== 2",
      "two panes");
  browser().press(keys::kDown);
  wait_for_large_map("1 -1");
  browser().hover(".strip [data-token='7']");
  browser().wait_until("document.querySelectorAll('.strip .hover').length === 2", "the token in both panes");
  EXPECT_EQ(
      browser().run(
          "return [...document.querySelectorAll('.strip .hover')].map((button) => button.dataset.token)"),
      (json{"7", "7"}));
  keep_screenshot(browser(), "two-models");
}

// A map of two heads has numbers at any place one asks for; they would be other tokens'.
TEST_F(ExplorerMaps, of_two_models_say_so_where_one_lacks_the_head) {
  const std::string words = "headwise has no head 3: its last is 1.";
  open("m=deep&b=headwise&v=gates&l=1&h=3&t=" + kPrompt);
  browser().wait_until("document.getElementById('fact-gate')", "the first model's gates");
  EXPECT_EQ(text_of(".pane:nth-child(2) .empty"), words);
  EXPECT_EQ(count("[data-map='head']:not([hidden] *)"), 1);
  EXPECT_NE(text_of("#strip-note").find(words), std::string::npos);
  EXPECT_EQ(browser().run("return [...document.querySelectorAll('.strip')].map((strip) => "
                          "[...strip.children].filter((button) => button.dataset.shown !== '').length)"),
            (json{11, 0}));
  browser().click("#tab-attention");
  browser().wait_until("document.querySelector('.large .map')?.dataset.drawn === '1 3'",
                       "the first model's map");
  EXPECT_EQ(text_of(".view .pane:nth-child(2) .empty"), words);
  browser().click("[aria-label='Next head']");  // round, to all heads
  browser().wait_until("document.querySelector('.large .map')?.dataset.drawn === '1 -1'", "all heads");
  wait_for_large_map("1 -1");
  EXPECT_EQ(count(".view .empty"), 0);
}

TEST_F(ExplorerMaps, of_two_models_share_the_scale_of_their_sums) {
  open("m=headwise&b=baseline&l=0&h=0");
  wait_for_large_map("0 0");
  const json tops =
      browser().run("return [...document.querySelectorAll('.corner span')].map((top) => top.textContent)");
  const json most = browser().run_async(R"(
const {maps} = await import('/shared/api.js');
const {sumsOf} = await import('/shared/scale.js');
const prompt = document.getElementById('prompt').value;
const found = [];
for (const model of ['headwise', 'baseline']) {
  const [map] = await maps('/api/v1/map', {model, prompt, interventions: [], kind: 'attention', type: 'f32', layer: 0, head: 0});
  found.push(Math.max(...sumsOf(map.values, map.rows, false).received));
}
return `top ${Math.max(...found).toFixed(2)}`;)");
  EXPECT_EQ(tops, (json{most, most}));
}

TEST_F(ExplorerMaps, of_gates_count_every_channel) {
  const auto histogram = [&] {
    return browser()
        .run("return document.querySelector('.chart svg').getAttribute('aria-label')")
        .get<std::string>();
  };
  open("m=deep&v=gates&l=3&t=" + kPrompt);
  browser().wait_until("document.getElementById('fact-closed')", "figures of the layer");
  EXPECT_EQ(histogram().find("Histogram of 704 gate values"), 0U) << histogram();
  open("m=deep&v=gates&l=3&h=1&t=" + kPrompt);
  browser().wait_until("document.getElementById('fact-closed')", "figures of the head");
  EXPECT_EQ(histogram().find("Histogram of 176 gate values"), 0U) << histogram();
  EXPECT_NE(text_of("#fact-closed").find("of all channels"), std::string::npos);
  EXPECT_EQ(count("[data-map='head'] .chosen:not([hidden])"), 1) << "a frame around the head";
}

}  // namespace
}  // namespace sluice::test
