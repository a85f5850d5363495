// The keys of config.json that are known here, with what happens to each. docs/models.md shows the same list
// to people; a test compares the two.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/json.h"

namespace sluice {

enum class KeyUse {
  Read,     // the reader looks at it, and refuses what it cannot do
  Fixed,    // it changes the computation: refused unless its value is the one that changes nothing
  Ignored,  // without a meaning for the decoder's arithmetic
};

struct ConfigKey {
  std::string_view name;
  KeyUse use = KeyUse::Read;
  std::string_view neutral = "null";  // of a fixed one, as JSON; null is always neutral
};

std::span<const ConfigKey> config_keys();

// Bad input for a fixed key with another value, and for one that is most likely a misspelt known one. Other
// unknown keys pass.
void check_config_keys(const Json& json);

// Those that nothing is known about.
std::vector<std::string> unknown_config_keys(const Json& json);

}  // namespace sluice
