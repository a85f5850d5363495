#include "sluice/base/suggest.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace sluice {
namespace {

// Damerau-Levenshtein in its restricted form: a swapped pair is not edited again. Three rows are enough for
// it.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_back(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], two_back[j - 2] + 1);
    }
    std::swap(two_back, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

// What an abbreviation may stand for. None if it is too short to mean anything, or so many that a list of
// them is no help.
std::vector<std::string> beginning_with(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t kShortest = 2, kMost = 4;
  const std::size_t dashes = std::min(word.find_first_not_of('-'), word.size());
  std::vector<std::string> found;
  if (word.size() - dashes < kShortest) return found;
  for (const std::string& candidate : candidates) {
    if (candidate.starts_with(word)) found.push_back(candidate);
  }
  if (found.size() > kMost) found.clear();
  return found;
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  const std::size_t limit = std::max<std::size_t>(2, word.size() / 3);
  std::string best;
  std::size_t best_distance = limit + 1;
  for (const std::string& candidate : candidates) {
    const auto [shorter, longer] = std::minmax({word.size(), candidate.size()});
    // Also keeps a hostile megabyte-long word from costing more than a comparison of lengths.
    if (longer - shorter > limit) continue;
    const std::size_t distance = edit_distance(word, candidate);
    // A distance of the whole length means that nothing is shared: "x" is not a misspelt "no".
    if (distance >= best_distance || distance == longer) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  std::vector<std::string> meant = beginning_with(word, candidates);
  if (meant.empty()) {
    meant = {nearest(word, candidates)};
    if (meant.front().empty()) return "";
  }
  std::string question = "did you mean ";
  for (std::size_t i = 0; i < meant.size(); ++i) question += (i > 0 ? " or \"" : "\"") + meant[i] + "\"";
  return question + "?";
}

bool is_misspelt(std::string_view word, std::string_view other) {
  const auto [shorter, longer] = std::minmax({word.size(), other.size()});
  if (longer - shorter > 2) return false;
  const std::size_t edits = edit_distance(word, other);
  return edits > 0 && edits <= std::min<std::size_t>(2, other.size() / 3);
}

}  // namespace sluice
