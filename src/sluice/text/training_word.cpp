#include "sluice/text/training_word.h"

namespace sluice {

void join(TrainingWord& word, const Joining& joining, std::vector<PairChange>& changes) {
  const TokenPair pair = joining.pair;
  const TokenId token = joining.token;
  std::vector<TokenId>& tokens = word.tokens;
  const auto change = [&](TokenId left, TokenId right, std::int64_t sign) {
    changes.push_back({{left, right}, sign * word.count, joining.word});
  };
  std::size_t kept = 0;
  for (std::size_t i = 0; i < tokens.size();) {
    const bool is_pair = i + 1 < tokens.size() && TokenPair{tokens[i], tokens[i + 1]} == pair;
    if (!is_pair) {
      tokens[kept++] = tokens[i++];
      continue;
    }
    change(pair.first, pair.second, -1);
    if (kept > 0) {
      change(tokens[kept - 1], pair.first, -1);
      change(tokens[kept - 1], token, +1);
    }
    if (i + 2 < tokens.size()) {
      change(pair.second, tokens[i + 2], -1);
      change(token, tokens[i + 2], +1);
    }
    // Counts are of what stands there now: a second pair right behind finds this token on its left.
    tokens[kept++] = token;
    i += 2;
  }
  tokens.resize(kept);
}

}  // namespace sluice
