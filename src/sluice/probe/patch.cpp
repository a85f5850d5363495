// Shapes: T tokens of a prompt, B pieces in a batch, D hidden.
#include "sluice/probe/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sluice/base/error.h"
#include "sluice/infer/nonfinite_tap.h"
#include "sluice/infer/positions.h"
#include "sluice/probe/patch_checks.h"
#include "sluice/probe/patch_probe.h"
#include "sluice/probe/patch_taps.h"
#include "sluice/probe/recorder.h"

namespace sluice {
namespace {

// Enough rows that the weights' packing and reading cost little beside the products.
constexpr int64_t kPatchBatchTokens = 512;

class PatchJob {
 public:
  PatchJob(const LoadedModel& model, const PatchRequest& request, const JobControl& control)
      : model_(model), request_(request), control_(control), context_(model.context(nullptr, Packing::Keep)) {
    check_patch_request(model, request);
    const auto patterns = request.taps.empty() ? default_patch_taps(model.config()) : request.taps;
    taps_ = patch_taps(patterns, model.config());
    if (request.pieces != PatchPieces::Heads) return;
    if (request.taps.empty()) std::erase_if(taps_, [](const PatchTap& tap) { return tap.heads == 0; });
    for (const PatchTap& tap : taps_) {
      if (tap.heads == 0)
        throw usage_error({.where = fmt::format("--tap {}", tap.point.name),
                           .what = "has no heads",
                           .hint = "--by positions is what it has"});
    }
  }

  PatchResult run();

 private:
  int64_t tokens() const { return std::ssize(request_.clean); }
  PatchPrompt measured(const std::vector<TokenId>& ids) const;
  void patch_layer(int64_t layer, const Tensor& source, const Tensor& base);
  std::vector<PatchPiece> pieces_of(const PatchTap& tap) const;
  std::vector<RecoveredShare> patched(const TapName& at, const Tensor& value,
                                      std::span<const PatchPiece> pieces, const Tensor& base);
  // [B · T, D] behind the last layer → a logit difference for each sequence.
  std::vector<double> differences(const Tensor& stream) const;
  Tensor through(const Context& context, const Tensor& stream, Range layers) const;
  int64_t count_pieces() const;

  const LoadedModel& model_;
  const PatchRequest& request_;
  const JobControl& control_;
  Context context_;
  std::vector<PatchTap> taps_;
  PatchResult result_;
  int64_t done_ = 0, total_ = 0;
};

PatchAnswer answer_of(const LoadedModel& model, TokenId id) {
  return {id, model.has_tokenizer() ? model.decode({&id, 1}) : ""};
}

Tensor PatchJob::through(const Context& context, const Tensor& stream, Range layers) const {
  const Decoder& decoder = model_.decoder();
  const Pass pass = decoder.begin(context, Sequences::equal(stream.rows() / tokens(), tokens()));
  return decoder.run(context, Var(stream), pass, layers).y.value();
}

std::vector<double> PatchJob::differences(const Tensor& stream) const {
  const int64_t sequences = stream.rows() / tokens(), width = stream.cols();
  const Tensor last = context_.empty({sequences, width}, DType::F32);
  for (int64_t s = 0; s < sequences; ++s)
    std::copy_n(stream.data<float>() + ((s + 1) * tokens() - 1) * width, width,
                last.data<float>() + s * width);
  const Decoder& decoder = model_.decoder();
  const Tensor logits = decoder.logits(context_, decoder.finish(context_, Var(last))).value();
  std::vector<double> differences;
  for (int64_t s = 0; s < sequences; ++s) {
    const float* row = logits.data<float>() + s * logits.cols();
    differences.push_back(double{row[request_.answer]} - double{row[request_.wrong]});
  }
  return differences;
}

PatchPrompt PatchJob::measured(const std::vector<TokenId>& ids) const {
  const Decoder& decoder = model_.decoder();
  const Tensor stream = through(context_, decoder.embed(context_, ids).value(), {0, decoder.layers()});
  PatchPrompt prompt{.ids = ids, .difference = differences(stream).front()};
  if (!std::isfinite(prompt.difference))
    throw not_finite("what the model says of the prompt is", context_, decoder, ids)
        .inside(model_.path().string());
  if (model_.has_tokenizer())
    for (const TokenId id : ids) prompt.tokens.push_back(model_.decode({&id, 1}));
  return prompt;
}

std::vector<PatchPiece> PatchJob::pieces_of(const PatchTap& tap) const {
  std::vector<PatchPiece> pieces;
  if (request_.pieces != PatchPieces::Heads)
    for (int64_t i = 0; i < tokens(); ++i) pieces.push_back({PatchPiece::Kind::Position, i});
  if (request_.pieces != PatchPieces::Positions)
    for (int64_t i = 0; i < tap.heads; ++i) pieces.push_back({PatchPiece::Kind::Head, i});
  return pieces;
}

int64_t PatchJob::count_pieces() const {
  int64_t count = 0;
  for (const PatchTap& tap : taps_) count += std::ssize(tap.layers) * std::ssize(pieces_of(tap));
  return count;
}

std::vector<RecoveredShare> PatchJob::patched(const TapName& at, const Tensor& value,
                                              std::span<const PatchPiece> pieces, const Tensor& base) {
  PatchProbe probe(at, value, pieces);
  Tensor streams = context_.empty({std::ssize(pieces) * base.rows(), base.cols()}, DType::F32);
  for (size_t i = 0; i < pieces.size(); ++i)
    std::ranges::copy(base.values<float>(), streams.data<float>() + static_cast<int64_t>(i) * base.count());
  streams = through(context_.with_probe(&probe), streams, {at.layer, model_.decoder().layers()});
  std::vector<RecoveredShare> shares;
  for (const double difference : differences(streams)) {
    const double corrupted = result_.corrupted.difference;
    const double share = (difference - corrupted) / (result_.clean.difference - corrupted);
    shares.push_back(std::isfinite(share) ? share : std::numeric_limits<double>::quiet_NaN());
  }
  return shares;
}

// `source` and `base` are the streams before the layer: of the prompt that values are taken from, and of the
// one they are put into.
void PatchJob::patch_layer(int64_t layer, const Tensor& source, const Tensor& base) {
  std::vector<TapPattern> wanted;
  for (const PatchTap& tap : taps_) wanted.emplace_back(fmt::format("layers.{}.{}", layer, tap.point.name));
  Recorder recorder(std::move(wanted));
  through(context_.with_probe(&recorder), source, {layer, layer + 1});
  const auto batch = static_cast<size_t>(std::max<int64_t>(1, kPatchBatchTokens / tokens()));
  for (size_t i = 0; i < taps_.size(); ++i) {
    const PatchTap& tap = taps_[i];
    if (std::ranges::find(tap.layers, layer) == tap.layers.end()) continue;
    const TapName at{layer, tap.point.name};
    const Tensor& value = recorder.at(at).front();
    PatchedLayer row{.layer = layer};
    const std::vector<PatchPiece> pieces = pieces_of(tap);
    for (size_t first = 0; first < pieces.size(); first += batch) {
      control_.stop_if_cancelled();
      const auto some = std::span(pieces).subspan(first, std::min(batch, pieces.size() - first));
      const std::vector<RecoveredShare> shares = patched(at, value, some, base);
      for (size_t j = 0; j < shares.size(); ++j)
        (some[j].kind == PatchPiece::Kind::Head ? row.heads : row.positions).push_back(shares[j]);
      control_.report("pieces", done_ += std::ssize(some), total_);
    }
    result_.maps[i].layers.push_back(std::move(row));
  }
}

PatchResult PatchJob::run() {
  warn_beyond_positions(model_.config(), "the prompt has", tokens(), control_);
  result_ = {.direction = request_.direction,
             .clean = measured(request_.clean),
             .corrupted = measured(request_.corrupted),
             .answer = answer_of(model_, request_.answer),
             .wrong = answer_of(model_, request_.wrong)};
  check_patch_differences(result_.clean.difference, result_.corrupted.difference);
  for (const PatchTap& tap : taps_) result_.maps.push_back({.tap = std::string(tap.point.name)});
  total_ = count_pieces();
  const bool denoise = request_.direction == PatchDirection::Denoise;
  const Decoder& decoder = model_.decoder();
  Tensor source = decoder.embed(context_, denoise ? request_.clean : request_.corrupted).value();
  Tensor base = decoder.embed(context_, denoise ? request_.corrupted : request_.clean).value();
  for (int64_t layer = 0; layer < decoder.layers(); ++layer) {
    patch_layer(layer, source, base);
    source = through(context_, source, {layer, layer + 1});
    base = through(context_, base, {layer, layer + 1});
  }
  return std::move(result_);
}

}  // namespace

PatchResult patch_prompts(const LoadedModel& model, const PatchRequest& request, const JobControl& control) {
  return PatchJob(model, request, control).run();
}

}  // namespace sluice
