#include "sluice/analysis/gates_by_token.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/analysis/ranks.h"

namespace sluice {

Moments TokenGates::elsewhere() const {
  Moments sum = others[0];
  sum.add(others[1]);
  return sum;
}

Moments TokenGates::all() const {
  Moments sum = elsewhere();
  sum.add(first);
  return sum;
}

void add_tokens(GatesByToken& gates, const TokenMeans& means) {
  for (size_t i = 0; i < means.ids.size(); ++i) {
    TokenGates& token = gates[means.ids[i]];
    (i == 0 ? token.first : token.others[static_cast<size_t>(means.sequence % 2)]).add(means.gates[i]);
  }
}

std::vector<RankedToken> ranked_tokens(const GatesByToken& gates) {
  std::vector<RankedToken> ranked;
  for (const auto& [token, found] : gates) {
    const Moments all = found.all();
    if (all.count >= kOftenEnough) ranked.push_back({token, all.count, all.mean()});
  }
  std::ranges::stable_sort(ranked, {}, &RankedToken::mean);
  return ranked;
}

double token_order_agreement(const GatesByToken& gates) {
  std::vector<double> even, odd;
  for (const auto& [token, found] : gates) {
    if (std::min(found.others[0].count, found.others[1].count) < kOftenEnough) continue;
    even.push_back(found.others[0].mean());
    odd.push_back(found.others[1].mean());
  }
  return rank_correlation(even, odd);
}

FirstAgainstItself first_against_itself(const GatesByToken& gates) {
  std::vector<double> differences;
  Moments first, elsewhere;
  for (const auto& [token, found] : gates) {
    const Moments others = found.elsewhere();
    if (found.first.count == 0 || others.count == 0) continue;
    first.add(found.first.mean());
    elsewhere.add(others.mean());
    differences.push_back(found.first.mean() - others.mean());
  }
  return {.tokens = first.count,
          .first = first.mean(),
          .elsewhere = elsewhere.mean(),
          .difference = mean_of_samples(differences)};
}

nlohmann::ordered_json to_json(const GatesByToken& gates) {
  nlohmann::ordered_json ranked = nlohmann::ordered_json::array();
  for (const RankedToken& token : ranked_tokens(gates))
    ranked.push_back({{"token", token.token},
                      {"text", gates.at(token.token).text},
                      {"count", token.count},
                      {"mean", token.mean}});
  const FirstAgainstItself itself = first_against_itself(gates);
  return {{"tokens", gates.size()},
          {"first_against_itself",
           {{"tokens", itself.tokens},
            {"first", itself.first},
            {"elsewhere", itself.elsewhere},
            {"difference", to_json(itself.difference)}}},
          {"order_in_halves", token_order_agreement(gates)},
          {"from_closed_to_open", std::move(ranked)}};
}

}  // namespace sluice
