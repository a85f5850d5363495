#include "tests/browser/browser_checks.h"

#include <set>

namespace sluice::test {
namespace {

using nlohmann::json;

// Contrast by the formula of WCAG 2. Backgrounds that let something through are laid over what is below them.
// Controls that are switched off are exempt there, and here.
constexpr const char* kFaintTexts = R"(
const parse = (color) => { const parts = color.match(/[\d.]+/g).map(Number); return parts.length < 4 ? [...parts, 1] : parts; };
const over = (front, back) => [0, 1, 2].map((i) => front[i] * front[3] + back[i] * (1 - front[3])).concat(1);
const light = (color) => { const [r, g, b] = color.slice(0, 3).map((part) => { const share = part / 255; return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const backgroundOf = (node) => { const layers = []; for (let at = node; at; at = at.parentElement) { const color = parse(getComputedStyle(at).backgroundColor); if (color[3] > 0) layers.unshift(color); if (color[3] === 1) break; } return layers.reduce((back, front) => over(front, back), [255, 255, 255, 1]); };
const found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const text = walker.currentNode.textContent.trim();
  const node = walker.currentNode.parentElement;
  if (!text || !node.checkVisibility({checkOpacity: true}) || node.closest(':disabled, noscript, .unseen, .skip, svg')) continue;
  const style = getComputedStyle(node);
  const back = backgroundOf(node);
  const front = over(parse(style.color), back);
  const [low, high] = [light(front), light(back)].sort((a, b) => a - b);
  const ratio = (high + 0.05) / (low + 0.05);
  const size = parseFloat(style.fontSize);
  const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  if (ratio < (large ? 3 : 4.5)) found.push(`${ratio.toFixed(2)}: "${text.slice(0, 30)}" (${node.tagName} ${node.className})`);
}
return [...new Set(found)].slice(0, 10);
)";

std::string text_at(const json& node, const char* key) {
  return node.contains(key) && node[key].contains("value") && node[key]["value"].is_string()
             ? node[key]["value"].get<std::string>()
             : "";
}

}  // namespace

std::vector<std::string> nameless_nodes(Browser& browser) {
  static const std::set<std::string> kNeedNames = {
      "button", "link",  "textbox", "combobox", "checkbox", "slider", "spinbutton",
      "tab",    "image", "img",     "tabpanel", "dialog",   "region", "table"};
  browser.devtools("Accessibility.enable", json::object());
  const json tree = browser.devtools("Accessibility.getFullAXTree", json::object());
  std::vector<std::string> nameless;
  for (const json& node : tree.at("nodes")) {
    if (node.value("ignored", false)) continue;
    const std::string role = text_at(node, "role");
    if (kNeedNames.contains(role) && text_at(node, "name").empty()) nameless.push_back(role);
  }
  return nameless;
}

std::vector<std::string> faint_texts(Browser& browser) {
  return browser.run(kFaintTexts).get<std::vector<std::string>>();
}

}  // namespace sluice::test
