// The sums of some sequences of a look. A look is always made of such parts, added up in the order of the
// text, so that it does not matter which process has computed which.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/analysis/look.h"

namespace sluice {

// Few, since a process that dies loses its part; several, since a part has a figure for every channel and
// position, which is megabytes for a large model. Even: measures keep every other sequence apart.
constexpr int64_t kSequencesOfPart = 4;
static_assert(kSequencesOfPart % 2 == 0);

// To be raised when a part's bytes change: two builds of one version must not read each other's.
constexpr int kPartFormat = 1;

struct LookPart {
  Look sums = {};                       // without estimates, and floors not yet divided
  std::set<TokenId> first_tokens = {};  // at position 0
  std::vector<bool> met = {};           // by intervention: whether it met a token
};

int64_t parts_of(const ChunkedText& text);

// Computes parts of one look.
class LookParts {
 public:
  LookParts(const LoadedModel& model, const LookRequest& request);

  const ModelConfig& config() const { return model_.config(); }

  LookPart compute(int64_t part, const JobControl& control) const;

 private:
  const LoadedModel& model_;
  const LookRequest& request_;
  std::vector<double> log_frequencies_;  // [V], of the whole text
};

// `part` follows what is in `total`. Bad input if it has another number of layers, heads or channels.
void add(LookPart& total, const LookPart& part);

// A part behind its checksum, and back; bad input, with `where`, for anything else.
std::string bytes_of(LookPart part);
LookPart part_in(std::string_view bytes, const std::string& where);

}  // namespace sluice
