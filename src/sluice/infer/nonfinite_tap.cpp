#include "sluice/infer/nonfinite_tap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/nn/tap_points.h"

namespace sluice {
namespace {

// Sees every value that is computed with, after the other probe, if there is one, has seen it.
class NonFiniteWatch : public Probe {
 public:
  explicit NonFiniteWatch(Probe* other) : other_(other) {}

  void begin_pass(const PassTokens& tokens) override {
    if (other_ != nullptr) other_->begin_pass(tokens);
  }

  // What can only be read is computed for whoever looks, and would only take time. Outputs of experts are
  // spread over all of them, which may not fit into memory, and mlp.out has what is wrong with them.
  bool wants(const TapName& name) const override {
    const auto* point = std::ranges::find(points::kAll, name.point, &TapPoint::name);
    if (point == points::kAll.end() || other_wants(name)) return true;
    return point->access == TapAccess::Change && point->axes != TapAxes::ExpertOutputs;
  }

  Tensor visit(const Context& context, const TapName& name, const Tensor& value) override {
    const Tensor after = other_wants(name) ? other_->visit(context, name, value) : value;
    if (first_.empty()) note(name, after);
    return after;
  }

  const std::string& first() const { return first_; }

 private:
  bool other_wants(const TapName& name) const { return other_ != nullptr && other_->wants(name); }

  void note(const TapName& name, const Tensor& value) {
    const auto values = value.values<float>();
    const auto found = std::ranges::find_if(values, [](float x) { return !std::isfinite(x); });
    if (found == values.end()) return;
    const int64_t row = (found - values.begin()) / std::max<int64_t>(value.count() / value.shape()[0], 1);
    first_ = fmt::format("{}, which is {} at token {}", name.text(), *found, row);
  }

  Probe* other_;
  std::string first_;
};

}  // namespace

bool is_finite(const Tensor& values) {
  return std::ranges::all_of(values.values<float>(), [](float x) { return std::isfinite(x); });
}

std::optional<std::string> first_nonfinite_tap(const Context& context, const Decoder& decoder,
                                               std::span<const TokenId> ids, const Sequences& sequences) {
  NonFiniteWatch watch(context.probe);
  decoder.forward(context.with_probe(&watch), ids, sequences);
  return watch.first().empty() ? std::nullopt : std::optional(watch.first());
}

Error not_finite(const std::string& what, const Context& context, const Decoder& decoder,
                 std::span<const TokenId> ids) {
  const auto tap = first_nonfinite_tap(context, decoder, ids, Sequences::equal(1, std::ssize(ids)));
  return failure(
      {.what = fmt::format("{} not finite", what),
       .hint = fmt::format("the first value that is not: {}", tap.value_or(std::string(points::kLogits)))});
}

}  // namespace sluice
