#include "sluice/optim/adamw.h"

#include <cmath>

namespace sluice {
namespace {

// Blocks are summed in f32 and added in f64 in their order: the same for any number of threads.
double square_sum(const Context& context, const Tensor& x) {
  const int64_t blocks = (x.count() + kSumBlock - 1) / kSumBlock;
  const Tensor sums = context.empty({blocks}, DType::F32);
  const BlockSum<float> args{.x = x.data<float>(), .count = x.count(), .sums = sums.data<float>()};
  context.run(context.kernels<float>().block_square_sum, args, blocks, kSumBlock);
  double total = 0;
  for (const float sum : sums.values<float>()) total += sum;
  return total;
}

}  // namespace

AdamW::AdamW(const Context& context, std::vector<NamedParameter> parameters, const AdamWOptions& options)
    : parameters_(std::move(parameters)), options_(options) {
  for (const NamedParameter& named : parameters_) {
    moments_.push_back(
        {.first = context.zeros(named.shape, DType::F32), .second = context.zeros(named.shape, DType::F32)});
  }
}

double AdamW::gradient_norm(const Context& context) const {
  double total = 0;
  for (const NamedParameter& named : parameters_) {
    if (named.parameter->grad.defined()) total += square_sum(context, named.parameter->grad);
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
  for (size_t i = 0; i < moments_.size(); ++i) {
    const NamedParameter& named = parameters_[i];
    Parameter& parameter = *named.parameter;
    if (!parameter.grad.defined()) continue;
    args.value = parameter.value.data<float>();
    args.grad = parameter.grad.data<float>();
    args.first = moments_[i].first.data<float>();
    args.second = moments_[i].second.data<float>();
    args.decay = named.role == ParameterRole::Matrix ? static_cast<float>(options_.weight_decay) : 0.0F;
    context.run(context.kernels<float>().adamw, args, parameter.value.count(), 1);
    parameter.grad = {};
    parameter.drop_packed();
  }
}

void AdamW::restore(int64_t steps, std::vector<Moments> moments) {
  SLUICE_ASSERT(moments.size() == moments_.size(), "adamw: moments of {} parameters for {}", moments.size(),
                moments_.size());
  steps_ = steps;
  moments_ = std::move(moments);
}

}  // namespace sluice
