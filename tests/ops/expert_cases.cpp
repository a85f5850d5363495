// Routers and experts. Which experts a token goes to is fixed where experts are differentiated: the choice
// has no gradient, and a difference must not step over it.
#include <fmt/format.h>

#include <array>

#include "sluice/ops/experts.h"
#include "sluice/ops/router_loss.h"
#include "sluice/ops/softmax.h"
#include "tests/ops/op_cases.h"

namespace sluice::test {
namespace {

struct ExpertSize {
  int64_t tokens, hidden, width, experts, per_token;
};

// Unequal loads, and nobody chooses the last expert if there are more than each token takes.
Tensor fixed_choice(const Context& context, const ExpertSize& size) {
  const Tensor chosen = context.empty({size.tokens, size.per_token}, DType::I32);
  const int64_t used = std::max(size.per_token, size.experts - 1);
  for (int64_t i = 0; i < chosen.count(); ++i)
    chosen.data<int32_t>()[i] = static_cast<int32_t>((i / size.per_token % 3 + i % size.per_token) % used);
  return chosen;
}

// Operands: x, weights of the choices, then gate, up and down of each expert.
OpCase experts_case(const ExpertSize& size) {
  const auto& [tokens, hidden, width, experts, per_token] = size;
  std::vector<Shape> operands = {{tokens, hidden}, {tokens, per_token}};
  for (int64_t e = 0; e < experts; ++e)
    for (const Shape& shape : {Shape{width, hidden}, Shape{width, hidden}, Shape{hidden, width}})
      operands.push_back(shape);
  return {.name = fmt::format("experts_{}x{}x{}_{}_of_{}", tokens, hidden, width, per_token, experts),
          .operands = operands,
          .apply =
              [size](const Context& context, const std::vector<Var>& in) {
                ExpertWeights weights;
                for (size_t i = 2; i < in.size(); i += 3) {
                  weights.gate.emplace_back(in[i]);
                  weights.up.emplace_back(in[i + 1]);
                  weights.down.emplace_back(in[i + 2]);
                }
                const ExpertRows rows = sorted_by_expert(context, fixed_choice(context, size), size.experts);
                return combine_experts(context, expert_mlps(context, in[0], rows, weights), in[1], rows);
              },
          .sum_length = std::max({tokens, hidden, width, per_token})};
}

void add_router_cases(std::vector<OpCase>& cases) {
  struct Size {
    int64_t tokens, experts, per_token;
  };
  for (const auto [tokens, experts, per_token] :
       {Size{0, 3, 2}, Size{1, 1, 1}, Size{5, 7, 2}, Size{9, 17, 3}, Size{40, 8, 8}}) {
    const std::string size = fmt::format("{}x{}", tokens, experts);
    const std::vector<Shape> scores = {{tokens, experts}};
    cases.push_back(
        {"softmax_" + size, scores,
         [](const Context& context, const std::vector<Var>& in) { return softmax(context, in[0]); },
         experts});
    for (const auto kind : {ChoiceWeights::Raw, ChoiceWeights::Normalised}) {
      cases.push_back({fmt::format("choose_{}_of_{}_{}", per_token, size,
                                   kind == ChoiceWeights::Raw ? "raw" : "normalised"),
                       scores,
                       [kind, k = per_token](const Context& context, const std::vector<Var>& in) {
                         return choose_experts(context, softmax(context, in[0]), k, kind).weights;
                       },
                       experts});
    }
    cases.push_back({"z_loss_" + size, scores,
                     [](const Context& context, const std::vector<Var>& in) {
                       return mean_square_log_sum(context, in[0]);
                     },
                     tokens * experts});
    cases.push_back({"weighted_mean_" + size, scores,
                     [width = experts](const Context& context, const std::vector<Var>& in) {
                       std::vector<double> shares;
                       for (int64_t e = 0; e < width; ++e) shares.push_back(0.1 + static_cast<double>(e));
                       return weighted_mean(context, in[0], shares);
                     },
                     tokens * experts});
  }
}

}  // namespace

void add_expert_cases(std::vector<OpCase>& cases) {
  add_router_cases(cases);
  for (const ExpertSize& size :
       {ExpertSize{0, 3, 2, 2, 1}, ExpertSize{1, 1, 1, 1, 1}, ExpertSize{2, 5, 3, 4, 2},
        ExpertSize{9, 5, 7, 4, 2}, ExpertSize{23, 17, 9, 5, 3}, ExpertSize{40, 33, 31, 3, 1}})
    cases.push_back(experts_case(size));
}

}  // namespace sluice::test
