// What all ranks must have alike, compared before they work together: two that train different models would
// give numbers that mean nothing.
#pragma once

#include <string>
#include <vector>

#include "sluice/base/build_info.h"
#include "sluice/dist/ranks.h"

namespace sluice {

struct Fingerprint {
  std::string what;   // "data"
  std::string value;  // anything that is equal if the things are
};

// Bad input, on all ranks, that names the first rank and thing that differ from the first rank's.
void check_same_everywhere(Ranks& ranks, const std::vector<Fingerprint>& own);

// The first thing that ranks tell each other: another version may exchange other messages from here on.
void check_same_version(Ranks& ranks, const BuildInfo& own = build_info());

}  // namespace sluice
