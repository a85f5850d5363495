// The parameters of a model by name: what a checkpoint stores, training updates and a random start fills.
#pragma once

#include <string>
#include <vector>

#include "sluice/base/random.h"
#include "sluice/nn/layers.h"

namespace sluice {

inline constexpr double kUsualStd = 0.02;  // initializer_range of the published configurations

// What a parameter is for; training and conversion treat them differently.
enum class ParameterRole { Matrix, Norm, Bias, GateConstant };

// What a matrix does, where that matters for how it starts.
enum class MatrixUse { Inner, AttentionOutput, FeedForwardOutput, Embedding, Output, Gate, Router };

// A parameter with its shape; its own name is the one under which checkpoints know it, gates stored as
// tensors of their own.
struct NamedParameter {
  Parameter* parameter;
  Shape shape;
  ParameterRole role = ParameterRole::Matrix;
  MatrixUse use = MatrixUse::Inner;
  // How training starts: normal with this standard deviation around `mean`.
  double std = 0.0;
  double mean = 0.0;
};

struct LinearTraits {
  bool bias = false;
  MatrixUse use = MatrixUse::Inner;
};

// Layers add theirs, in the order of a checkpoint.
class ParameterList {
 public:
  // The new entry, for those that start in another way.
  NamedParameter& add(const std::string& name, Parameter& parameter, const Shape& shape,
                      ParameterRole role = ParameterRole::Matrix);
  void add_linear(const std::string& name, Linear& linear, const Shape& shape,
                  const LinearTraits& traits = {});
  void add_norm(const std::string& name, Norm& norm, int64_t width);

  std::vector<NamedParameter> take() { return std::move(list_); }

 private:
  std::vector<NamedParameter> list_;
};

// Values that training of a parameter starts from, F32; the same for any number of threads.
Tensor initial_values(MemoryPool& pool, const Threads& threads, const NamedParameter& named,
                      const Random& random);

}  // namespace sluice
