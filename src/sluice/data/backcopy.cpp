#include "sluice/data/backcopy.h"

#include <cmath>
#include <numeric>

#include "sluice/base/assert.h"
#include "sluice/base/permutation.h"

namespace sluice {
namespace {

// Streams of a seed.
enum : uint64_t { kTriggerStream, kTableStream, kDocumentStream };

constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
static_assert(kAlphabet.size() == BackcopyChain::kLetters);

constexpr double kSparsity = 0.15;  // the shape of the weights' distribution: a few letters take nearly all

size_t index_of(char letter) {
  const size_t index = kAlphabet.find(letter);
  SLUICE_ASSERT(index != std::string_view::npos, "backcopy: '{}' is no letter", letter);
  return index;
}

// Gamma(shape, 1) for a shape below 1, by Marsaglia and Tsang (2000): a draw for shape + 1, made smaller.
double gamma(const Random& random, double shape) {
  const double d = shape + 1 - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (uint64_t i = 0;; i += 3) {
    const double x = random.normal(i), v = std::pow(1 + c * x, 3);
    if (v <= 0 || std::log(1 - random.uniform(i + 1)) >= 0.5 * x * x + d - d * v + d * std::log(v)) continue;
    return d * v * std::pow(1 - random.uniform(i + 2), 1 / shape);
  }
}

}  // namespace

BackcopyChain::BackcopyChain(uint64_t seed) : random_(seed) {
  const Permutation order(kLetters, random_.child(kTriggerStream));
  for (size_t i = 0; i < kTriggers; ++i) triggers_[order(i)] = true;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const Random row = random_.child(kTableStream).child(i);
    for (size_t j = 0; j < kLetters; ++j) rows_[i][j] = gamma(row.child(j), kSparsity);
    const double sum = std::accumulate(rows_[i].begin(), rows_[i].end(), 0.0);
    for (double& weight : rows_[i]) weight /= sum;
  }
}

bool BackcopyChain::is_trigger(char letter) const {
  return letter != kStart && triggers_[index_of(letter)];
}

bool BackcopyChain::is_copied(std::string_view before) const {
  return before.size() > 2 && is_trigger(before.back());
}

const BackcopyChain::Row& BackcopyChain::row_behind(char sign) const {
  return sign == kStart ? rows_.back() : rows_[index_of(sign)];
}

double BackcopyChain::probability(std::string_view before, char letter) const {
  SLUICE_ASSERT(!before.empty(), "backcopy: nothing before '{}'", letter);
  if (is_copied(before)) return letter == before[before.size() - 2] ? 1 : 0;
  return row_behind(before.back())[index_of(letter)];
}

char BackcopyChain::next(std::string_view before, double uniform) const {
  if (is_copied(before)) return before[before.size() - 2];
  const Row& row = row_behind(before.back());
  size_t letter = 0;
  for (double passed = row[0]; passed <= uniform && letter + 1 < kLetters; passed += row[++letter]) {
  }
  return kAlphabet[letter];
}

std::string BackcopyChain::document(uint64_t index, size_t letters) const {
  const Random random = random_.child(kDocumentStream).child(index);
  std::string text(1, kStart);
  for (size_t i = 0; i < letters; ++i) text += next(text, random.uniform(i));
  return text;
}

}  // namespace sluice
