#include "sluice/ops/experts.h"

#include <algorithm>

#include "sluice/ops/grouped_product.h"
#include "sluice/ops/swiglu.h"
#include "sluice/ops/weight_product.h"

namespace sluice {
namespace {

// Tokens that a thread takes at once where whole rows are added up.
constexpr int64_t kRowsAtOnce = 16;

// total += factor · x, or total = factor · x.
template <class T>
void add_row(const Kernels<T>& kernels, Output output, T factor, const T* x, std::span<T> total) {
  const Range all{0, static_cast<int64_t>(total.size())};
  if (output == Output::Overwrite) {
    kernels.scale({.x = x, .y = total.data(), .factor = factor}, all);
  } else {
    kernels.scaled_add({.a = total.data(), .b = x, .y = total.data(), .factor = factor}, all);
  }
}

// Sum over the rows of each token, with these weights or, if there are none, with ones.
template <class T>
void add_weighted_rows(const Context& context, const Tensor& rows, const T* weights, const Tensor& places,
                       const Destination& to) {
  const int64_t k = places.cols(), width = rows.cols();
  context.threads().split(places.rows(), kRowsAtOnce, [&](Range tokens) {
    for (int64_t t = tokens.begin; t < tokens.end; ++t) {
      const std::span<T> total(to.tensor.data<T>() + t * width, static_cast<size_t>(width));
      for (int64_t s = 0; s < k; ++s) {
        const T* row = rows.data<T>() + places.data<int32_t>()[t * k + s] * width;
        add_row<T>(context.kernels<T>(), s == 0 ? to.output : Output::Accumulate,
                   weights == nullptr ? T(1) : weights[t * k + s], row, total);
      }
    }
  });
}

// Several layers of one input, each with a weight for every group.
struct GroupedLayers {
  std::shared_ptr<GroupedInput> input;
  Slot slot;      // of the input
  Tensor places;  // [N, k] if the input is in the order of tokens, else undefined
};

// A slot that wants a gradient, if any does: the others are on the same tape.
Slot any_slot(std::span<const Weight> weights) {
  const auto found =
      std::ranges::find_if(weights, [](const Weight& weight) { return weight.dense().wants_gradient(); });
  return found == weights.end() ? Slot() : found->dense().slot();
}

template <class T>
void backward_of_layer(const GroupedLayers& saved, const std::vector<Weight>& weights, Gradients& gradients) {
  const Context& context = gradients.context();
  const Tensor& dy = gradients.dy();
  if (saved.slot) {
    Tensor drows = multiply_backward<T>(context, dy, saved.input->groups(), weights);
    if (saved.places.defined()) {
      const Tensor& x = saved.input->unsorted();
      const Destination dx = gradients.target(saved.slot, x.shape(), x.dtype());
      add_weighted_rows<T>(context, drows, nullptr, saved.places, dx);
    } else {
      gradients.add(saved.slot, std::move(drows));
    }
  }
  std::vector<Destination> to(weights.size());
  for (size_t g = 0; g < weights.size(); ++g) {
    const Var& weight = weights[g].dense();
    if (weight.wants_gradient()) to[g] = gradients.target(weight.slot(), weight.shape(), weight.dtype());
  }
  multiply_gradient<T>(context, dy, *saved.input, to);
}

Var grouped_linear(const Context& context, const GroupedLayers& layers, const std::vector<Weight>& weights) {
  const Tensor& x = layers.input->unsorted();
  for (const Weight& weight : weights) check_weight("experts", context, x, weight);
  Tensor y = with_compute_type("experts", x.dtype(), [&](auto zero) {
    return multiply_forward<decltype(zero)>(context, *layers.input, weights);
  });
  return result(
      context, std::move(y), {layers.slot, any_slot(weights)}, [layers, weights](Gradients& gradients) {
        with_compute_type("experts", gradients.dy().dtype(),
                          [&](auto zero) { backward_of_layer<decltype(zero)>(layers, weights, gradients); });
      });
}

// Without a tape and in bf16, what lies between the products exists only as packed operands.
bool fits_expert_tiles(const Context& context, int64_t tokens, const ExpertWeights& weights) {
  const auto on_tiles = [&](const std::vector<Weight>& each) {
    return std::ranges::all_of(each, [&](const Weight& weight) {
      return product_path(context, weight, kFewRows) == ProductPath::Tiles;
    });
  };
  return context.tape == nullptr && tokens >= kFewRows && on_tiles(weights.gate) && on_tiles(weights.up) &&
         on_tiles(weights.down);
}

Tensor experts_on_tiles(const Context& context, GroupedInput& x, const ExpertWeights& weights) {
  const RowGroups& groups = x.groups();
  const PackedGroups& packed = x.packed(context);
  const PackedGroups h = multiply_swiglu_groups(context, packed, groups,
                                                GroupWeights(context, weights.gate, Transpose::Yes, groups),
                                                GroupWeights(context, weights.up, Transpose::Yes, groups));
  return multiply_groups(context, h, groups, GroupWeights(context, weights.down, Transpose::Yes, groups));
}

enum class Direction { Spread, Collect };

// Between rows as experts work on them [R, D] and a place for every token and expert [N, E, D].
void copy_rows(const Tensor& rows, const Tensor& all, const ExpertRows& order, Direction direction) {
  const int64_t width = rows.cols(), experts = order.groups.count();
  with_compute_type("expert outputs", rows.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t e = 0; e < experts; ++e) {
      for (int64_t r = order.groups.rows(e).begin; r < order.groups.rows(e).end; ++r) {
        T* row = rows.data<T>() + r * width;
        T* place = all.data<T>() + (order.tokens.data<int32_t>()[r] * experts + e) * width;
        direction == Direction::Spread ? std::copy_n(row, width, place) : std::copy_n(place, width, row);
      }
    }
  });
}

Tensor spread_rows(const Context& context, const Tensor& rows, const ExpertRows& order) {
  const Tensor all = context.zeros({order.token_count(), order.groups.count(), rows.cols()}, rows.dtype());
  copy_rows(rows, all, order, Direction::Spread);
  return all;
}

Tensor collect_rows(const Context& context, const Tensor& all, const ExpertRows& order) {
  const Tensor rows = context.empty({order.groups.total(), all.shape()[2]}, all.dtype());
  copy_rows(rows, all, order, Direction::Collect);
  return rows;
}

// Of an input that both layers share, whose gradients go to a place for each.
Var perceptrons(const Context& context, const GroupedLayers& for_gate, const GroupedLayers& for_up,
                const ExpertWeights& weights) {
  const Var gate = grouped_linear(context, for_gate, weights.gate);
  const Var up = grouped_linear(context, for_up, weights.up);
  for_gate.input->drop_forms();
  const Var h = swiglu(context, gate, up);
  const GroupedLayers second{.input = std::make_shared<GroupedInput>(h.value(), for_gate.input->groups()),
                             .slot = h.slot(),
                             .places = {}};
  const Var y = grouped_linear(context, second, weights.down);
  second.input->drop_forms();
  return y;
}

struct CombineSaved {
  Var outputs, weights;
  Tensor places;
};

template <class T>
void backward_of_combine(const CombineSaved& saved, Gradients& gradients) {
  const Context& context = gradients.context();
  const Tensor &dy = gradients.dy(), &outputs = saved.outputs.value(), &weights = saved.weights.value();
  Tensor doutputs = context.empty_like(outputs), dweights = context.empty_like(weights);
  const int64_t k = saved.places.cols(), width = dy.cols();
  const Kernels<T>& kernels = context.kernels<T>();
  context.threads().split(saved.places.rows(), kRowsAtOnce, [&](Range tokens) {
    for (int64_t i = tokens.begin * k; i < tokens.end * k; ++i) {
      const T* dy_row = dy.data<T>() + i / k * width;
      const int64_t row = saved.places.data<int32_t>()[i] * width;
      kernels.scale({.x = dy_row, .y = doutputs.data<T>() + row, .factor = weights.data<T>()[i]}, {0, width});
      kernels.few_rows({.rows = 1,
                        .k = width,
                        .x = dy_row,
                        .weight = outputs.data<T>() + row,
                        .y = dweights.data<T>() + i,
                        .y_stride = 1},
                       {0, 1});
    }
  });
  gradients.add(saved.outputs.slot(), std::move(doutputs));
  gradients.add(saved.weights.slot(), std::move(dweights));
}

}  // namespace

Var expert_mlps(const Context& context, const Var& x, const ExpertRows& rows, const ExpertWeights& weights) {
  SLUICE_ASSERT(x.rows() == rows.token_count(), "experts: {} rows of {} tokens", x.rows(),
                rows.token_count());
  const auto input = std::make_shared<GroupedInput>(x.value(), rows.groups, rows.tokens);
  if (fits_expert_tiles(context, rows.token_count(), weights))
    return Var(experts_on_tiles(context, *input, weights));
  const GroupedLayers both{.input = input, .slot = x.slot(), .places = rows.places};
  return perceptrons(context, both, both, weights);
}

Var expert_mlps(const Context& context, const SortedInput& x, const SortedRows& rows,
                const ExpertWeights& weights) {
  const Tensor& values = x.for_gate.value();
  SLUICE_ASSERT(values.rows() == rows.groups.total() && x.for_up.value().shares_elements(values),
                "experts: {} sorted rows of {}", values.rows(), rows.groups.total());
  const auto input = std::make_shared<GroupedInput>(values, rows.groups);
  if (fits_expert_tiles(context, rows.tokens, weights))
    return Var(experts_on_tiles(context, *input, weights));
  return perceptrons(context, {.input = input, .slot = x.for_gate.slot(), .places = {}},
                     {.input = input, .slot = x.for_up.slot(), .places = {}}, weights);
}

void add_rows_of_tokens(const Context& context, const Tensor& rows, const Tensor& places,
                        const Destination& to) {
  with_compute_type("experts", rows.dtype(), [&](auto zero) {
    add_weighted_rows<decltype(zero)>(context, rows, nullptr, places, to);
  });
}

Var combine_experts(const Context& context, const Var& outputs, const Var& weights, const ExpertRows& rows) {
  SLUICE_ASSERT(outputs.rows() == rows.groups.total() && weights.shape() == rows.places.shape(),
                "combine_experts: outputs {} and weights {} of {} rows", outputs.shape().text(),
                weights.shape().text(), rows.groups.total());
  const Tensor y = context.empty({rows.token_count(), outputs.cols()}, outputs.dtype());
  with_compute_type("combine_experts", y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    add_weighted_rows<T>(context, outputs.value(), weights.value().data<T>(), rows.places,
                         {y, Output::Overwrite});
  });
  const CombineSaved saved{outputs, weights, rows.places};
  return result(context, y, {outputs.slot(), weights.slot()}, [saved](Gradients& gradients) {
    with_compute_type("combine_experts", gradients.dy().dtype(),
                      [&](auto zero) { backward_of_combine<decltype(zero)>(saved, gradients); });
  });
}

Var spread_by_expert(const Context& context, const Var& rows, const ExpertRows& order) {
  return result(context, spread_rows(context, rows.value(), order), {rows.slot()},
                [order, slot = rows.slot()](Gradients& gradients) {
                  gradients.add(slot, collect_rows(gradients.context(), gradients.dy(), order));
                });
}

Var collect_by_expert(const Context& context, const Var& all, const ExpertRows& order) {
  return result(context, collect_rows(context, all.value(), order), {all.slot()},
                [order, slot = all.slot()](Gradients& gradients) {
                  gradients.add(slot, spread_rows(gradients.context(), gradients.dy(), order));
                });
}

}  // namespace sluice
