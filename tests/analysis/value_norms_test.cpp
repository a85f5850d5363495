#include "sluice/analysis/value_norms.h"

#include <gtest/gtest.h>

#include "sluice/data/backcopy.h"

namespace sluice {
namespace {

// tests/golden/nursery: a baseline with a sink, whose first token is a start symbol.
TEST(FirstValueNorm, is_small_where_a_sink_has_grown) {
  Engine engine({.threads = 1});
  const LoadedModel model(engine, std::filesystem::path(SLUICE_SOURCE_DIR) / "tests/golden/nursery/baseline");
  const BackcopyChain chain(1);
  std::vector<TokenId> tokens = model.encode(chain.document(uint64_t{1} << 41, BackcopyChain::kUsualLetters));
  const auto ratio_of = [&](const std::vector<TokenId>& ids) {
    return first_value_norm(model, cut_into_chunks(ids, {.length = std::ssize(ids)}, {}));
  };
  const double with_start = ratio_of(tokens);
  EXPECT_GT(with_start, 0);
  EXPECT_LT(with_start, 0.9);
  const std::vector<TokenId> without(tokens.begin() + 1, tokens.end());
  EXPECT_NE(ratio_of(without), with_start) << "another token is first";
}

}  // namespace
}  // namespace sluice
