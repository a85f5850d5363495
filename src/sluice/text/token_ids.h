// Token ids written out as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/error.h"
#include "sluice/text/vocabulary.h"

namespace sluice {

// "1,2,3" or "1 2 3", each in [0, vocabulary), and one between any two commas. `kind` is what a mistake is:
// usage for an option's value, bad input for a file's content.
std::vector<TokenId> parse_ids(std::string_view text, int64_t vocabulary, const std::string& where,
                               ErrorKind kind);

}  // namespace sluice
