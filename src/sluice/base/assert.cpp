#include "sluice/base/assert.h"

#include <string_view>

namespace sluice {

void assertion_failed(const char* condition, const char* file, int line, const std::string& message) {
  std::string_view name = file;
  // Builds embed absolute paths; a message needs only the part below the include root.
  if (const auto at = name.rfind("sluice/"); at != std::string_view::npos) name.remove_prefix(at);
  throw AssertionError(fmt::format("{} [{} at {}:{}]", message, condition, name, line));
}

}  // namespace sluice
