// Norms of numbers whose squares are beyond the largest float.
#include <cmath>
#include <vector>

#include "sluice/ops/rms_norm.h"
#include "tests/ops/every_set.h"

namespace sluice::test {
namespace {

// 1 / inf would turn them into zeros, which look like a result.
TEST(NormOverflow, gives_nan_and_not_zero) {
  with_every_set([](Engine& engine) {
    const Context context{engine};
    constexpr int64_t kWidth = 37;
    std::vector<float> numbers(2 * kWidth, 1.0F);
    numbers[5] = 1e38F;
    const Tensor x = Tensor::from<float>(engine.pool(), {2, kWidth}, numbers);
    const Tensor weight = Tensor::from<float>(engine.pool(), {kWidth}, std::vector<float>(kWidth, 1.0F));
    const Var y = rms_norm(context, Var(x), Var(weight));
    const auto values = y.value().values<float>();
    for (const float value : values.first(kWidth)) EXPECT_TRUE(std::isnan(value));
    for (const float value : values.last(kWidth)) EXPECT_NEAR(value, 1.0F, 1e-5);
  });
}

}  // namespace
}  // namespace sluice::test
