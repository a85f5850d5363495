#include "tests/browser/browser.h"

#include <stdexcept>
#include <thread>

#include "tests/cli/run_program.h"

namespace sluice::test {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kLongestWait{60};  // on a machine that is very busy
constexpr std::chrono::milliseconds kPollPause{40};
constexpr const char* kElementKey =
    "element-6066-11e4-a52e-4f735466cecf";  // the protocol's name for elements

std::string first_found(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (const auto path = find_program(name)) return *path;
  return "";
}

json browser_options(const std::string& browser, const std::string& profile) {
  const json arguments = {"--headless=new",
                          "--no-sandbox",
                          "--disable-gpu",
                          "--disable-software-rasterizer",
                          "--disable-dev-shm-usage",
                          "--no-first-run",
                          "--force-color-profile=srgb",
                          "--window-size=1280,900",
                          "--hide-scrollbars",
                          "--user-data-dir=" + profile};
  return {{"capabilities",
           {{"alwaysMatch",
             {{"goog:loggingPrefs", {{"browser", "ALL"}}},
              {"timeouts", {{"script", 120000}, {"pageLoad", 120000}}},
              {"goog:chromeOptions", {{"binary", browser}, {"args", arguments}}}}}}}};
}

json pause() {
  return {{"type", "pause"}, {"duration", 0}};
}

json key_action(const char* type, const std::string& key) {
  return {{"type", type}, {"value", key}};
}

}  // namespace

BrowserPrograms find_browser() {
  return {first_found({"chromium", "chromium-browser", "google-chrome"}), first_found({"chromedriver"})};
}

Browser::Browser(const BrowserPrograms& programs) {
  driver_ = std::make_unique<BackgroundProcess>(programs.driver, std::vector<std::string>{"--port=0"},
                                                folder_.path("driver.log"));
  connection_ =
      std::make_unique<DriverConnection>(driver_->wait_for_number("successfully on port ", kLongestWait));
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  while (!connection_->answers() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(kPollPause);
  const json made = connection_->send({.method = "POST",
                                       .path = "/session",
                                       .body = browser_options(programs.browser, folder_.path("profile"))});
  session_ = "/session/" + made.at("sessionId").get<std::string>();
}

Browser::~Browser() {
  try {
    command("DELETE", "");
  } catch (const std::exception&) {
    // It is killed in any case.
  }
  driver_.reset();
  // The driver gives its browser a group of its own, so a browser that did not end is found by its profile.
  kill_all_that_name(folder_.path("profile"));
}

json Browser::command(const std::string& method, const std::string& path, json body) {
  return connection_->send({.method = method, .path = session_ + path, .body = std::move(body)});
}

void Browser::open(const std::string& address) {
  // By way of nothing: a change of the fragment alone would not load the page anew.
  command("POST", "/url", {{"url", "about:blank"}});
  command("POST", "/url", {{"url", address}});
}

void Browser::reload() {
  command("POST", "/refresh");
}

void Browser::back() {
  command("POST", "/back");
}

void Browser::forward() {
  command("POST", "/forward");
}

void Browser::resize(int width, int height) {
  devtools("Emulation.setDeviceMetricsOverride",
           {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
}

void Browser::prefer_dark(bool dark) {
  devtools("Emulation.setEmulatedMedia",
           {{"features", {{{"name", "prefers-color-scheme"}, {"value", dark ? "dark" : "light"}}}}});
}

json Browser::run(const std::string& script, const std::vector<json>& arguments) {
  return command("POST", "/execute/sync", {{"script", script}, {"args", arguments}});
}

json Browser::run_async(const std::string& script, const std::vector<json>& arguments) {
  const std::string wrapped =
      "const done = arguments[arguments.length - 1]; const given = [...arguments].slice(0, -1);"
      "(async function () {" +
      script +
      "}).apply(null, given).then((value) => done({value}), (error) => done({failed: String(error)}));";
  const json answer = command("POST", "/execute/async", {{"script", wrapped}, {"args", arguments}});
  if (answer.contains("failed"))
    throw std::runtime_error("in the page: " + answer["failed"].get<std::string>());
  return answer.contains("value") ? answer["value"] : json();
}

void Browser::wait_until(const std::string& expression, const std::string& what) {
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  do {
    if (run("return Boolean(" + expression + ")").get<bool>()) return;
    std::this_thread::sleep_for(kPollPause);
  } while (std::chrono::steady_clock::now() < end);
  std::string seen =
      run("return location.href + '\\n' + document.body.innerText.slice(0, 1500)").get<std::string>();
  for (const std::string& error : console_errors()) seen += "\n" + error;
  throw std::runtime_error("not seen in time: " + what + "\n" + seen);
}

std::string Browser::element(const std::string& selector) {
  return command("POST", "/element", {{"using", "css selector"}, {"value", selector}}).at(kElementKey);
}

void Browser::act(const json& pointer, const json& keyboard) {
  json sources = json::array();
  if (!keyboard.empty()) sources.push_back({{"type", "key"}, {"id", "keyboard"}, {"actions", keyboard}});
  if (!pointer.empty())
    sources.push_back({{"type", "pointer"},
                       {"id", "mouse"},
                       {"parameters", {{"pointerType", "mouse"}}},
                       {"actions", pointer}});
  command("POST", "/actions", {{"actions", sources}});
}

json Browser::move_to(const std::string& selector, double share) {
  const json place =
      run("const found = document.querySelector(arguments[0]); if (!found) return null;"
          "found.scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'});"
          "const box = found.getBoundingClientRect(); return [box.left + box.width * arguments[1], box.top + "
          "box.height / 2];",
          {selector, share});
  if (place.is_null()) throw std::runtime_error("not on the page: " + selector);
  return {{"type", "pointerMove"},
          {"duration", 0},
          {"origin", "viewport"},
          {"x", static_cast<int>(place[0].get<double>())},
          {"y", static_cast<int>(place[1].get<double>())}};
}

void Browser::hover(const std::string& selector) {
  act(json::array({move_to(selector)}), json::array());
}

void Browser::click(const std::string& selector, bool with_shift) {
  const json pointer = {
      move_to(selector), {{"type", "pointerDown"}, {"button", 0}}, {{"type", "pointerUp"}, {"button", 0}}};
  if (!with_shift) return act(pointer, json::array());
  json moved = json::array({pause()});
  moved.insert(moved.end(), pointer.begin(), pointer.end());
  moved.push_back(pause());
  act(moved,
      {key_action("keyDown", keys::kShift), pause(), pause(), pause(), key_action("keyUp", keys::kShift)});
}

void Browser::drag(const std::string& selector, double from, double to) {
  const json end = move_to(selector, to);
  const json start = move_to(selector, from);
  json half = end;
  half["x"] = (start["x"].get<int>() + end["x"].get<int>()) / 2;
  act({start, {{"type", "pointerDown"}, {"button", 0}}, half, end, {{"type", "pointerUp"}, {"button", 0}}},
      json::array());
}

void Browser::press(const std::string& key, bool with_shift) {
  json actions = {key_action("keyDown", key), key_action("keyUp", key)};
  if (with_shift) {
    actions.insert(actions.begin(), key_action("keyDown", keys::kShift));
    actions.push_back(key_action("keyUp", keys::kShift));
  }
  act(json::array(), actions);
}

void Browser::type(const std::string& selector, const std::string& text) {
  const std::string path = "/element/" + element(selector);
  command("POST", path + "/clear");
  command("POST", path + "/value", {{"text", text}});
}

void Browser::choose(const std::string& selector, const std::string& value) {
  // What a person's choice does, without the list that the system draws.
  run("const select = document.querySelector(arguments[0]); select.value = arguments[1];"
      "select.dispatchEvent(new Event('change', {bubbles: true}));",
      {selector, value});
}

std::vector<std::string> Browser::console_errors() {
  std::vector<std::string> errors;
  for (const json& entry : command("POST", "/se/log", {{"type", "browser"}}))
    if (entry.value("level", "") == "SEVERE") errors.push_back(entry.value("message", ""));
  return errors;
}

json Browser::devtools(const std::string& name, const json& parameters) {
  return command("POST", "/goog/cdp/execute", {{"cmd", name}, {"params", parameters}});
}

std::string Browser::screenshot() {
  return command("GET", "/screenshot").get<std::string>();
}

}  // namespace sluice::test
