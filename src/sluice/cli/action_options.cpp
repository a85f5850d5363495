#include "sluice/cli/action_options.h"

#include <fmt/format.h>

namespace sluice::cli {

Error wrong_use(const std::string& command, std::string what) {
  return usage_error({.where = command, .what = std::move(what), .hint = "see sluice help " + command});
}

void check_action(const std::string& command, const std::string& action,
                  std::initializer_list<ActionOption> options) {
  for (const auto& [name, given, owner] : options) {
    if (given && action != owner) throw wrong_use(command, fmt::format("{} is for {}", name, owner));
  }
}

}  // namespace sluice::cli
