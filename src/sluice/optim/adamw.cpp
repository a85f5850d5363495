#include "sluice/optim/adamw.h"

#include <cmath>
#include <numeric>

namespace sluice {
namespace {

int64_t blocks_in(int64_t elements) {
  return (elements + kSumBlock - 1) / kSumBlock;
}

}  // namespace

std::vector<ParameterPiece> whole_pieces(const std::vector<NamedParameter>& parameters) {
  std::vector<ParameterPiece> pieces;
  for (size_t i = 0; i < parameters.size(); ++i)
    pieces.push_back({.parameter = i, .begin = 0, .end = parameters[i].shape.count()});
  return pieces;
}

AdamW::AdamW(const Context& context, std::vector<NamedParameter> parameters, const AdamWOptions& options,
             std::vector<ParameterPiece> pieces)
    : parameters_(std::move(parameters)), options_(options), pieces_(std::move(pieces)) {
  for (const ParameterPiece& piece : pieces_) {
    SLUICE_ASSERT(piece.begin % kSumBlock == 0, "adamw: a piece begins at {}", piece.begin);
    const Shape& whole = parameters_[piece.parameter].shape;
    const Shape shape = piece.count() == whole.count() ? whole : Shape{piece.count()};
    moments_.push_back(
        {.first = context.zeros(shape, DType::F32), .second = context.zeros(shape, DType::F32)});
  }
}

std::vector<float> AdamW::square_sums(const Context& context) const {
  std::vector<float> sums;
  for (const ParameterPiece& piece : pieces_) {
    const Tensor& grad = parameters_[piece.parameter].parameter->grad;
    const int64_t blocks = blocks_in(piece.count());
    const size_t first = sums.size();
    sums.resize(first + static_cast<size_t>(blocks));
    if (!grad.defined()) continue;
    const BlockSum<float> args{
        .x = grad.data<float>() + piece.begin, .count = piece.count(), .sums = sums.data() + first};
    context.run(context.kernels<float>().block_square_sum, args, blocks, kSumBlock);
  }
  return sums;
}

double AdamW::gradient_norm(const Context& context) const {
  double total = 0;
  const std::vector<float> sums = square_sums(context);
  auto next = sums.begin();
  for (const ParameterPiece& piece : pieces_) {
    const auto end = next + blocks_in(piece.count());
    total += std::accumulate(next, end, 0.0);
    next = end;
  }
  return std::sqrt(total);
}

double norm_of(const std::vector<float>& square_sums, const std::vector<NamedParameter>& parameters) {
  double total = 0;
  auto next = square_sums.begin();
  for (const NamedParameter& named : parameters) {
    // Blocks are summed in f32 and added in f64 in their order: the same for any number of threads and ranks.
    const auto end = next + blocks_in(named.shape.count());
    total += std::accumulate(next, end, 0.0);
    next = end;
  }
  return std::sqrt(total);
}

void AdamW::step(const Context& context, double rate, double norm) {
  ++steps_;
  const bool clips = options_.max_norm > 0 && norm > options_.max_norm;
  const auto count = static_cast<double>(steps_);
  AdamWStep<float> args{
      .grad_scale = static_cast<float>(clips ? options_.max_norm / norm : 1.0),
      .rate = static_cast<float>(rate),
      .beta1 = static_cast<float>(options_.beta1),
      .beta2 = static_cast<float>(options_.beta2),
      .eps = static_cast<float>(options_.eps),
      .first_correction = static_cast<float>(1.0 / (1.0 - std::pow(options_.beta1, count))),
      .second_correction = static_cast<float>(1.0 / (1.0 - std::pow(options_.beta2, count)))};
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const ParameterPiece& piece = pieces_[i];
    const NamedParameter& named = parameters_[piece.parameter];
    Parameter& parameter = *named.parameter;
    if (!parameter.grad.defined()) continue;
    args.value = parameter.value.data<float>() + piece.begin;
    args.grad = parameter.grad.data<float>() + piece.begin;
    args.first = moments_[i].first.data<float>();
    args.second = moments_[i].second.data<float>();
    args.decay = named.role == ParameterRole::Matrix ? static_cast<float>(options_.weight_decay) : 0.0F;
    context.run(context.kernels<float>().adamw, args, piece.count(), 1);
  }
  for (const NamedParameter& named : parameters_) {
    if (!named.parameter->grad.defined()) continue;
    named.parameter->grad = {};
    named.parameter->drop_packed();
  }
}

void AdamW::restore(int64_t steps, std::vector<Moments> moments) {
  SLUICE_ASSERT(moments.size() == moments_.size(), "adamw: moments of {} pieces for {}", moments.size(),
                moments_.size());
  steps_ = steps;
  moments_ = std::move(moments);
}

}  // namespace sluice
