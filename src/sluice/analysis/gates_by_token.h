// What the gates come to at each token of the vocabulary, over all layers and heads. Where a token stands
// first and where it does not are kept apart: is a low gate at the first token due to the place or the word?
#pragma once

#include <array>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "sluice/analysis/moments.h"
#include "sluice/eval/estimate.h"
#include "sluice/text/vocabulary.h"

namespace sluice {

// A value is the mean over layers and heads where the token occurs.
struct TokenGates {
  Moments first;                  // at position 0
  std::array<Moments, 2> others;  // elsewhere, in every other sequence
  std::string text = {};          // filled in later

  Moments elsewhere() const;
  Moments all() const;
};

using GatesByToken = std::map<TokenId, TokenGates>;

// Of a sequence: its tokens and the mean gate at each.
struct TokenMeans {
  int64_t sequence = 0;
  std::span<const TokenId> ids;
  std::span<const double> gates;
};
void add_tokens(GatesByToken& gates, const TokenMeans& means);

// Of tokens that occur at least so often a mean is worth showing.
inline constexpr int64_t kOftenEnough = 5;

struct RankedToken {
  TokenId token = 0;
  int64_t count = 0;
  double mean = 0;
};
// Of those that occur often enough, the most closed first.
std::vector<RankedToken> ranked_tokens(const GatesByToken& gates);

// Spearman correlation of their means in two halves of the text; NaN if too few are in both.
double token_order_agreement(const GatesByToken& gates);

// Tokens that stand first in some sequence and elsewhere in another place.
struct FirstAgainstItself {
  int64_t tokens = 0;
  double first = 0, elsewhere = 0;  // mean gate, each token counted once
  Estimate difference = {};         // first - elsewhere, over tokens
};
FirstAgainstItself first_against_itself(const GatesByToken& gates);

nlohmann::ordered_json to_json(const GatesByToken& gates);

}  // namespace sluice
