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

// Elements [begin, end) of a parameter, which is told by its place in a list.
struct ParameterPiece {
  size_t parameter = 0;
  int64_t begin = 0, end = 0;

  int64_t count() const { return end - begin; }
  bool operator==(const ParameterPiece&) const = default;
};

// Every parameter as one piece.
std::vector<ParameterPiece> whole_pieces(const std::vector<NamedParameter>& parameters);

class AdamW {
 public:
  // What it remembers of one piece; in the order of the pieces.
  struct Moments {
    Tensor first, second;  // F32; of the parameter's shape, or a row if it is a part of one
  };

  // The parameters must outlive it. A parameter's role decides whether it decays. It updates the pieces
  // alone, which begin at a multiple of kSumBlock: others have the rest.
  AdamW(const Context& context, std::vector<NamedParameter> parameters, const AdamWOptions& options,
        std::vector<ParameterPiece> pieces);
  AdamW(const Context& context, const std::vector<NamedParameter>& parameters, const AdamWOptions& options)
      : AdamW(context, parameters, options, whole_pieces(parameters)) {}

  // The norm of the gradients of its pieces together; not finite if one of them is not.
  double gradient_norm(const Context& context) const;

  // What the norm is made of: sums of squares of blocks of kSumBlock elements, piece after piece. 0 where
  // there is no gradient.
  std::vector<float> square_sums(const Context& context) const;

  // Takes a step with a norm that gradient_norm() gave, and clears the gradients of all parameters. A
  // parameter without a gradient stays as it is.
  void step(const Context& context, double rate, double norm);

  int64_t steps() const { return steps_; }
  const std::vector<ParameterPiece>& pieces() const { return pieces_; }
  const std::vector<Moments>& moments() const { return moments_; }

  // Continues from what steps() and moments() gave when a run was saved.
  void restore(int64_t steps, std::vector<Moments> moments);

 private:
  std::vector<NamedParameter> parameters_;
  AdamWOptions options_;
  std::vector<ParameterPiece> pieces_;
  std::vector<Moments> moments_;
  int64_t steps_ = 0;
};

// Of sums of squares of all blocks, parameter after parameter: the same bits whoever computed which.
double norm_of(const std::vector<float>& square_sums, const std::vector<NamedParameter>& parameters);

}  // namespace sluice
