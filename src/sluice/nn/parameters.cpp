#include "sluice/nn/parameters.h"

namespace sluice {
NamedParameter& ParameterList::add(const std::string& name, Parameter& parameter, const Shape& shape,
                                   ParameterRole role) {
  parameter.name = name;
  const double std = role == ParameterRole::Matrix ? kUsualStd : 0.0;
  return list_.emplace_back(
      NamedParameter{.parameter = &parameter, .shape = shape, .role = role, .std = std});
}

void ParameterList::add_linear(const std::string& name, Linear& linear, const Shape& shape,
                               const LinearTraits& traits) {
  add(name + ".weight", linear.weight, shape).use = traits.use;
  if (traits.bias) add(name + ".bias", linear.bias, {shape.rows()}, ParameterRole::Bias);
}

void ParameterList::add_norm(const std::string& name, Norm& norm, int64_t width) {
  const double one = norm.options.style == WeightStyle::Plain ? 1.0 : 0.0;
  add(name + ".weight", norm.weight, {width}, ParameterRole::Norm).mean = one;
}

Tensor initial_values(MemoryPool& pool, const Threads& threads, const NamedParameter& named,
                      const Random& random) {
  constexpr int64_t kGrain = 1 << 16;  // elements; a few milliseconds of work
  Tensor values = Tensor::empty(pool, named.shape, DType::F32);
  threads.split(values.count(), kGrain, [&](Range range) {
    const auto first = static_cast<size_t>(range.begin);
    random.fill_normal(values.values<float>().subspan(first, static_cast<size_t>(range.end) - first), first,
                       static_cast<float>(named.mean), static_cast<float>(named.std));
  });
  return values;
}

}  // namespace sluice
