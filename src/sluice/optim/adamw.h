// AdamW over a list of parameters, with clipping by the global norm.
#pragma once

#include <vector>

#include "sluice/model/decoder.h"

namespace sluice {

struct AdamWOptions {
  double beta1 = 0.9, beta2 = 0.95, eps = 1e-8;
  double weight_decay = 0.1;  // of matrices; norms, biases and constant gates do not decay
  double max_norm = 1.0;      // of all gradients together; 0: no clipping
};

class AdamW {
 public:
  // What it remembers of one parameter; in the order of the list.
  struct Moments {
    Tensor first, second;  // F32, of the parameter's shape
  };

  // The parameters must outlive it. A parameter's role decides whether it decays.
  AdamW(const Context& context, std::vector<NamedParameter> parameters, const AdamWOptions& options);

  // The norm of all gradients together; not finite if one of them is not.
  double gradient_norm(const Context& context) const;

  // Takes a step with a norm that gradient_norm() gave, and clears the gradients. A parameter without a
  // gradient stays as it is.
  void step(const Context& context, double rate, double norm);

  int64_t steps() const { return steps_; }
  const std::vector<Moments>& moments() const { return moments_; }

  // Continues from what steps() and moments() gave when a run was saved.
  void restore(int64_t steps, std::vector<Moments> moments);

 private:
  std::vector<NamedParameter> parameters_;
  AdamWOptions options_;
  std::vector<Moments> moments_;
  int64_t steps_ = 0;
};

}  // namespace sluice
