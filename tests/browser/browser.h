// A browser without a window, driven as a person would: pointer, keys, and waiting until something is to be
// seen.
#pragma once

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/browser/background_process.h"
#include "tests/browser/driver_connection.h"
#include "tests/browser/temporary_folder.h"

namespace sluice::test {

// Paths of what is needed; empty: not installed.
struct BrowserPrograms {
  std::string browser, driver;

  bool are_there() const { return !browser.empty() && !driver.empty(); }
};
BrowserPrograms find_browser();

namespace keys {  // of the W3C protocol
inline const std::string kShift = "\uE008", kEscape = "\uE00C", kLeft = "\uE012", kUp = "\uE013",
                         kRight = "\uE014", kDown = "\uE015", kTab = "\uE004", kEnter = "\uE007";
}

class Browser {
 public:
  explicit Browser(const BrowserPrograms& programs);
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  void open(const std::string& address);
  void reload();
  void back();
  void forward();
  void resize(int width, int height);
  void prefer_dark(bool dark);

  // Runs the body of a function in the page; `arguments[0]` and so on are the arguments.
  nlohmann::json run(const std::string& script, const std::vector<nlohmann::json>& arguments = {});
  // The same for one that awaits something, and returns a promise's value.
  nlohmann::json run_async(const std::string& script, const std::vector<nlohmann::json>& arguments = {});

  // Until the expression is true in the page; throws with `what`, the page's state and its console otherwise.
  void wait_until(const std::string& expression, const std::string& what);

  void hover(const std::string& selector);
  void click(const std::string& selector, bool with_shift = false);
  void drag(const std::string& selector, double from, double to);  // shares of the element's width
  void press(const std::string& key, bool with_shift = false);
  void type(const std::string& selector, const std::string& text);  // in the place of what is there
  void choose(const std::string& selector, const std::string& value);

  // Errors since the last call.
  std::vector<std::string> console_errors();
  nlohmann::json devtools(const std::string& command, const nlohmann::json& parameters);
  std::string screenshot();  // PNG in base64

 private:
  nlohmann::json command(const std::string& method, const std::string& path,
                         nlohmann::json body = nlohmann::json::object());
  std::string element(const std::string& selector);
  // In view, and its middle or another share of its width, in the window's coordinates.
  nlohmann::json move_to(const std::string& selector, double share = 0.5);
  void act(const nlohmann::json& pointer, const nlohmann::json& keyboard);

  TemporaryFolder folder_;
  std::unique_ptr<BackgroundProcess> driver_;
  std::unique_ptr<DriverConnection> connection_;
  std::string session_;
};

}  // namespace sluice::test
