#include "sluice/analysis/value_norms.h"

#include <cmath>
#include <map>
#include <vector>

#include "sluice/eval/chunk_pass.h"
#include "sluice/nn/tap_points.h"

namespace sluice {
namespace {

// Sums over sequences.
struct HeadValueNorms {
  double first = 0, others = 0;
  int64_t firsts = 0, other_tokens = 0;

  double ratio() const {
    return (first / static_cast<double>(firsts)) / (others / static_cast<double>(other_tokens));
  }
};

class ValueProbe : public Probe {
 public:
  void begin_pass(const PassTokens& tokens) override { sequences_ = tokens.sequences; }

  bool wants(const TapName& name) const override { return name.point == points::kValue; }

  Tensor visit(const Context& /*context*/, const TapName& name, const Tensor& value) override {
    const int64_t heads = value.shape()[1], width = value.shape()[2];
    std::vector<HeadValueNorms>& layer = layers_[name.layer];
    layer.resize(static_cast<size_t>(heads));
    for (int64_t s = 0; s < sequences_.count(); ++s) {
      const int64_t begin = sequences_.starts()[static_cast<size_t>(s)];
      for (int64_t t = begin; t < begin + sequences_.length(s); ++t)
        for (int64_t h = 0; h < heads; ++h)
          add(layer[static_cast<size_t>(h)], t == begin,
              value.values<float>().subspan(static_cast<size_t>((t * heads + h) * width),
                                            static_cast<size_t>(width)));
    }
    return value;
  }

  double mean_ratio() const {
    double sum = 0, heads = 0;
    for (const auto& [number, layer] : layers_) {
      for (const HeadValueNorms& head : layer) sum += head.ratio();
      heads += static_cast<double>(layer.size());
    }
    return sum / heads;
  }

 private:
  static void add(HeadValueNorms& head, bool is_first, std::span<const float> value) {
    double squares = 0;
    for (const float each : value) squares += double{each} * each;
    (is_first ? head.first : head.others) += std::sqrt(squares);
    ++(is_first ? head.firsts : head.other_tokens);
  }

  Sequences sequences_;
  std::map<int64_t, std::vector<HeadValueNorms>> layers_;
};

}  // namespace

double first_value_norm(const LoadedModel& model, const ChunkedText& text, const JobControl& control) {
  ValueProbe probe;
  for_each_chunk(model, {.text = text, .probe = &probe, .control = control}, [](const ChunkPass&) {});
  return probe.mean_ratio();
}

}  // namespace sluice
