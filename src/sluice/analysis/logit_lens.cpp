#include "sluice/analysis/logit_lens.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/analysis/moments.h"
#include "sluice/base/assert.h"
#include "sluice/nn/tap_points.h"
#include "sluice/probe/probe_chain.h"

namespace sluice {
namespace {

// Sets the gates at g1 to 1.
class OpenGates : public Probe {
 public:
  bool wants(const TapName& name) const override { return name.point == points::kGate; }

  Tensor visit(const Context& context, const TapName& /*name*/, const Tensor& value) override {
    met_ = true;
    const std::vector<float> open(static_cast<size_t>(value.count()), 1.0F);
    return Tensor::from<float>(context.engine.pool(), value.shape(), open);
  }

  bool met() const { return met_; }

 private:
  bool met_ = false;
};

// Rows whose logits exist at once: 64 × 151,936 in f32 are 39 MB.
constexpr int64_t kLensRows = 64;

// ln of the probabilities of the next token, for some rows of a stream.
class LogProbabilities {
 public:
  LogProbabilities(const LoadedModel& model, const Tensor& stream, Range rows) {
    const Context context = model.context(nullptr, Packing::Keep);
    const auto width = static_cast<size_t>(stream.cols());
    const auto values = stream.values<float>().subspan(static_cast<size_t>(rows.begin) * width,
                                                       static_cast<size_t>(rows.size()) * width);
    const Var piece(Tensor::from<float>(context.engine.pool(), {rows.size(), stream.cols()}, values));
    const Decoder& decoder = model.decoder();
    const Tensor logits = decoder.logits(context, decoder.finish(context, piece)).value();
    columns_ = static_cast<size_t>(logits.cols());
    values_.assign(logits.values<float>().begin(), logits.values<float>().end());
    for (size_t first = 0; first < values_.size(); first += columns_) normalise({&values_[first], columns_});
  }

  size_t rows() const { return values_.size() / columns_; }
  std::span<const float> row(size_t index) const { return {&values_[index * columns_], columns_}; }
  TokenId likeliest(size_t index) const {
    return static_cast<TokenId>(std::ranges::max_element(row(index)) - row(index).begin());
  }

 private:
  static void normalise(std::span<float> row) {
    const double largest = *std::ranges::max_element(row);
    double sum = 0;
    for (const float logit : row) sum += std::exp(logit - largest);
    const double log_sum = largest + std::log(sum);
    for (float& logit : row) logit = static_cast<float>(logit - log_sum);
  }

  std::vector<float> values_;
  size_t columns_ = 0;
};

// Kullback and Leibler's, the sum over rows.
double divergence(const LogProbabilities& from, const LogProbabilities& to) {
  double sum = 0;
  for (size_t i = 0; i < from.rows(); ++i)
    for (size_t v = 0; v < from.row(i).size(); ++v)
      sum += std::exp(from.row(i)[v]) * (static_cast<double>(from.row(i)[v]) - to.row(i)[v]);
  return sum;
}

// What a layer makes of the tokens, and what it would with its gates open, if it has any.
struct LayerStreams {
  Tensor real;
  std::optional<Tensor> opened = {};
};

LensLayer lens_of(const LoadedModel& model, int64_t layer, const LayerStreams& streams,
                  std::span<const TokenId> ids) {
  LensLayer lens{.layer = layer};
  double moved = 0;
  for (Range rows{0, 0}; rows.begin < std::ssize(ids); rows.begin = rows.end) {
    rows.end = std::min(rows.begin + kLensRows, std::ssize(ids));
    const LogProbabilities predicted(model, streams.real, rows);
    for (size_t i = 0; i < predicted.rows(); ++i) {
      lens.likeliest.push_back(predicted.likeliest(i));
      const size_t next = static_cast<size_t>(rows.begin) + i + 1;
      if (next < ids.size()) lens.surprise.push_back(-predicted.row(i)[static_cast<size_t>(ids[next])]);
    }
    if (streams.opened) moved += divergence(predicted, LogProbabilities(model, *streams.opened, rows));
  }
  lens.nll = Moments::of(lens.surprise).mean();
  if (streams.opened) lens.moved = moved / static_cast<double>(ids.size());
  return lens;
}

double share_of_equal(const std::vector<TokenId>& a, const std::vector<TokenId>& b) {
  size_t equal = 0;
  for (size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i] ? 1 : 0;
  return static_cast<double>(equal) / static_cast<double>(a.size());
}

}  // namespace

LogitLens logit_lens(const LoadedModel& model, const LensRequest& request, const JobControl& control) {
  const std::span<const TokenId> ids = request.ids;
  SLUICE_ASSERT(ids.size() > 1, "logit_lens: {} tokens", ids.size());
  const Decoder& decoder = model.decoder();
  Intervener intervener(request.interventions);
  OpenGates gates;
  ProbeChain both({&intervener, &gates});
  const Context context = model.context(&intervener, Packing::Keep),
                opened = model.context(&both, Packing::Keep);
  const Pass pass = decoder.begin(opened, Sequences::equal(1, std::ssize(ids)));
  LogitLens result;
  Var stream = decoder.embed(context, ids);
  for (int64_t layer = 0; layer < decoder.layers(); ++layer) {
    control.stop_if_cancelled();
    gates = {};
    const Var moved = decoder.run(opened, stream, pass, {layer, layer + 1}).y;
    stream = decoder.run(context, stream, pass, {layer, layer + 1}).y;
    LayerStreams streams{.real = stream.value()};
    if (gates.met()) streams.opened = moved.value();
    result.layers.push_back(lens_of(model, layer, streams, ids));
    control.report("lens", layer + 1, decoder.layers());
  }
  for (LensLayer& lens : result.layers)
    lens.agreement = share_of_equal(lens.likeliest, result.layers.back().likeliest);
  return result;
}

nlohmann::ordered_json to_json(const LogitLens& lens) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (const LensLayer& layer : lens.layers) {
    nlohmann::ordered_json json = {{"layer", layer.layer},
                                   {"nll", layer.nll},
                                   {"agreement", layer.agreement},
                                   {"likeliest", layer.likeliest},
                                   {"surprise", layer.surprise}};
    json["moved_by_open_gates"] = layer.moved ? nlohmann::ordered_json(*layer.moved) : nullptr;
    layers.push_back(std::move(json));
  }
  return layers;
}

}  // namespace sluice
