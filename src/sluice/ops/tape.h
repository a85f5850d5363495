// The tape: ops append how to undo themselves, backward() plays it in reverse. What a step needed is freed as
// soon as it has been played.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sluice/kernels/gemm.h"
#include "sluice/ops/context.h"

namespace sluice {

struct WeightForms;  // ops/weight_forms.h
std::shared_ptr<WeightForms> new_weight_forms();

// A tensor of a model, trained or only run. Its gradient adds up over backward passes until the owner clears
// it; it is no part of the model, so a model can be differentiated without being changed.
struct Parameter {
  std::string name;
  Tensor value;                                             // undefined if it is kept in another form alone
  mutable Tensor grad = {};                                 // undefined until a gradient arrives
  std::shared_ptr<WeightForms> forms = new_weight_forms();  // of a matrix: int8 values, packed operands

  // To be called when the value's elements have changed.
  void drop_packed() const;
};

// A value's place on a tape, where its gradient is collected; none if no gradient is wanted.
struct Slot {
  const Tape* tape = nullptr;
  size_t index = 0;

  explicit operator bool() const { return tape != nullptr; }
};

// A tensor in a computation. Cheap to copy. A backward function that does not need the value keeps only the
// slot.
class Var {
 public:
  Var() = default;
  explicit Var(Tensor value, Slot slot = {}) : value_(std::move(value)), slot_(slot) {}

  const Tensor& value() const { return value_; }
  Slot slot() const { return slot_; }
  bool wants_gradient() const { return static_cast<bool>(slot_); }

  DType dtype() const { return value_.dtype(); }
  const Shape& shape() const { return value_.shape(); }
  int64_t rows() const { return value_.rows(); }
  int64_t cols() const { return value_.cols(); }

 private:
  Tensor value_;
  Slot slot_;
};

// Where a kernel writes, and whether it must add to what is there.
struct Destination {
  Tensor tensor;
  Output output = Output::Overwrite;
};

// What a backward function gets: the gradient of the op's result, and the way to its operands' gradients.
class Gradients {
 public:
  Gradients(const Context& context, Tape& tape, const Tensor& dy) : context_(context), tape_(tape), dy_(dy) {}

  const Context& context() const { return context_; }
  const Tensor& dy() const { return dy_; }

  // Adds `gradient` to a slot; a slot of none drops it.
  void add(Slot slot, Tensor gradient);

  // For kernels that can accumulate by themselves: the slot's own memory, made on first use.
  Destination target(Slot slot, const Shape& shape, DType dtype);

  // Whether anything has been added to a slot so far.
  bool has(Slot slot) const;

  // Like target, but zeroed on first use, for kernels that only ever add.
  Tensor accumulator(Slot slot, const Shape& shape, DType dtype);

  // Who listens to this tape listens to one that is played inside it, too.
  void share_listener(Tape& inner) const;

 private:
  const Context& context_;
  Tape& tape_;
  const Tensor& dy_;
};

using BackwardFunction = std::function<void(Gradients&)>;

// Whether a tape collects the gradients of a model's parameters, or takes them for constants: then none is
// computed or stored, and parameters may be of types that have none.
enum class ParameterGradients { Wanted, None };

class Tape {
 public:
  // Told of a parameter when the tape will add nothing more to its gradient.
  using Listener = std::function<void(const Parameter&)>;

  explicit Tape(ParameterGradients parameters = ParameterGradients::Wanted) : parameters_(parameters) {}
  explicit Tape(Listener listener) : listener_(std::move(listener)) {}
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  ParameterGradients parameter_gradients() const { return parameters_; }

  // An input whose gradient is read with gradient() after backward().
  Var leaf(Tensor value);
  // An input whose gradient adds up in parameter.grad. The parameter must outlive the tape.
  Var watch(const Parameter& parameter);
  // A result. Backward functions capture no Var of their own result: that would keep it alive for nothing.
  Var record(Tensor value, BackwardFunction backward);

  // Plays the tape from `output`, whose gradient is `seed`. A tape is played once.
  void backward(const Context& context, const Var& output, Tensor seed);
  // The same from several outputs; an undefined gradient is none.
  struct Seed {
    Var output;
    Tensor gradient;
  };
  void backward(const Context& context, std::vector<Seed> seeds);
  // The same for a scalar, from 1.
  void backward(const Context& context, const Var& loss);

  // Gradient of a leaf; undefined if nothing depended on it.
  const Tensor& gradient(const Var& leaf) const;

 private:
  friend class Gradients;

  struct Node {
    BackwardFunction backward = {};  // none: a leaf
    Tensor grad = {};
    const Parameter* parameter = nullptr;
  };

  Var append(Tensor value, Node node);
  Tensor& grad_of(Slot slot);
  bool watches(const Parameter& parameter) const;
  void play(const Context& silent, size_t node);
  void tell_if_complete(size_t node) const;

  ParameterGradients parameters_ = ParameterGradients::Wanted;
  std::vector<Node> nodes_;
  Listener listener_;
  bool played_ = false;
};

// A parameter as an operand: watched if there is a tape that wants its gradient.
Var use(const Context& context, const Parameter& parameter);

// The result of an op: recorded if there is a tape and an operand wants its gradient.
Var result(const Context& context, Tensor value, std::initializer_list<Slot> operands,
           BackwardFunction backward);

}  // namespace sluice
