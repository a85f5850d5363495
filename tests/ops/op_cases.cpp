#include "tests/ops/op_cases.h"

#include <fmt/format.h>

#include <array>

#include "sluice/ops/arithmetic.h"
#include "sluice/ops/attention.h"
#include "sluice/ops/clip.h"
#include "sluice/ops/embedding.h"
#include "sluice/ops/gate.h"
#include "sluice/ops/linear_cross_entropy.h"
#include "sluice/ops/mlp.h"
#include "sluice/ops/norm_rope.h"
#include "sluice/ops/rms_norm.h"
#include "sluice/ops/swiglu.h"
#include "sluice/ops/take_columns.h"

namespace sluice::test {
namespace {

using Vars = std::vector<Var>;

Tensor ids(const Context& context, int64_t count, const std::function<int32_t(int64_t)>& id) {
  Tensor tensor = context.empty({count}, DType::I32);
  for (int64_t i = 0; i < count; ++i) tensor.data<int32_t>()[i] = id(i);
  return tensor;
}

void add_embedding_cases(std::vector<OpCase>& cases) {
  struct Size {
    int64_t tokens, vocabulary, width;
  };
  for (const auto [tokens, vocabulary, width] :
       {Size{0, 3, 4}, Size{1, 1, 1}, Size{9, 4, 7}, Size{70, 5, 65}}) {
    cases.push_back({.name = fmt::format("embedding_{}x{}x{}", tokens, vocabulary, width),
                     .operands = {{vocabulary, width}},
                     .apply =
                         [tokens = tokens, vocabulary = vocabulary](const Context& context, const Vars& in) {
                           const auto id = [&](int64_t i) {
                             return static_cast<int32_t>(i * i % vocabulary);
                           };
                           return embedding(context, in[0], ids(context, tokens, id));
                         },
                     .sum_length = tokens});
  }
}

void add_linear_cases(std::vector<OpCase>& cases) {
  struct Size {
    int64_t n, m, k;
  };
  // The last one crosses the borders of the tiles that a product is cut into.
  for (const auto [n, m, k] : {Size{0, 4, 3}, Size{4, 0, 3}, Size{4, 3, 0}, Size{1, 1, 1}, Size{3, 5, 7},
                               Size{17, 31, 33}, Size{63, 16, 15}, Size{300, 530, 9}}) {
    const std::string size = fmt::format("{}x{}x{}", n, m, k);
    const int64_t longest = std::max({n, m, k});
    cases.push_back(
        {.name = "linear_" + size,
         .operands = {{n, k}, {m, k}},
         .apply = [](const Context& context, const Vars& in) { return linear(context, in[0], {in[1]}); },
         .sum_length = longest});
    cases.push_back({.name = "linear_bias_" + size,
                     .operands = {{n, k}, {m, k}, {m}},
                     .apply =
                         [](const Context& context, const Vars& in) {
                           return linear(context, in[0], {in[1], in[2]});
                         },
                     .sum_length = longest});
    cases.push_back({.name = "linear_residual_" + size,
                     .operands = {{n, k}, {m, k}, {m}, {n, m}},
                     .apply =
                         [](const Context& context, const Vars& in) {
                           return add_linear(context, in[3], in[0], {in[1], in[2]});
                         },
                     .sum_length = longest});
    cases.push_back({.name = "linears_" + size,
                     .operands = {{n, k}, {m, k}, {m, k}},
                     .apply =
                         [](const Context& context, const Vars& in) {
                           const std::array<LinearWeights, 2> both = {{{in[1]}, {in[2]}}};
                           const Vars ys = linears(context, in[0], both);
                           return swiglu(context, ys[0], ys[1]);
                         },
                     .sum_length = longest});
  }
}

void add_feed_forward_cases(std::vector<OpCase>& cases) {
  struct Size {
    int64_t n, d, f;
  };
  for (const auto [n, d, f] : {Size{0, 3, 5}, Size{1, 1, 1}, Size{3, 5, 7}, Size{17, 33, 31}}) {
    cases.push_back({.name = fmt::format("feed_forward_{}x{}x{}", n, d, f),
                     .operands = {{n, d}, {f, d}, {f, d}, {d, f}, {n, d}},
                     .apply =
                         [](const Context& context, const Vars& in) {
                           return mlp(context, in[0], {{in[1]}, {in[2]}, {in[3]}}, in[4]);
                         },
                     .sum_length = std::max({n, d, f})});
  }
}

void add_norm_cases(std::vector<OpCase>& cases) {
  struct Size {
    int64_t rows, width;
  };
  for (const auto style : {WeightStyle::Plain, WeightStyle::OnePlus}) {
    for (const auto [rows, width] :
         {Size{0, 5}, Size{1, 1}, Size{3, 7}, Size{2, 64}, Size{5, 33}, Size{130, 17}, Size{2, 255}}) {
      cases.push_back({.name = fmt::format("rms_norm_{}_{}x{}",
                                           style == WeightStyle::Plain ? "plain" : "one_plus", rows, width),
                       .operands = {{rows, width}, {width}},
                       .apply =
                           [style](const Context& context, const Vars& in) {
                             return rms_norm(context, in[0], in[1], {.eps = 1e-5, .style = style});
                           },
                       .sum_length = std::max(rows, width)});
    }
  }
}

struct RopeSize {
  int64_t tokens, heads, head_dim, rotary;
};

Var apply_norm_rope(const Context& context, const Vars& in, const RopeSize& size) {
  const Rotary rotary{
      .table = rope_table(context, {.positions = 50, .frequencies = rope_frequencies(size.rotary, 10000.0)},
                          in[0].dtype()),
      .positions = ids(context, size.tokens, [](int64_t i) { return i * 7 % 50; })};
  const Var weight = in.size() > 1 ? in[1] : Var();
  return norm_rope(context, in[0], weight, rotary,
                   {.heads = size.heads, .norm = {.style = WeightStyle::Plain}});
}

void add_norm_rope_cases(std::vector<OpCase>& cases) {
  for (const RopeSize& size : {RopeSize{0, 2, 8, 8}, RopeSize{1, 1, 2, 2}, RopeSize{5, 3, 10, 6},
                               RopeSize{3, 2, 7, 0}, RopeSize{70, 2, 34, 34}, RopeSize{4, 1, 64, 32}}) {
    const auto& [tokens, heads, head_dim, rotary] = size;
    const std::string name = fmt::format("{}x{}x{}_rotary_{}", tokens, heads, head_dim, rotary);
    const auto apply = [size](const Context& context, const Vars& in) {
      return apply_norm_rope(context, in, size);
    };
    const Shape x{tokens, heads * head_dim};
    const int64_t longest = std::max(tokens * heads, head_dim);
    cases.push_back({"rope_" + name, {x}, apply, longest});
    cases.push_back({"norm_rope_" + name, {x, {head_dim}}, apply, longest});
  }
}

void add_attention_cases(std::vector<OpCase>& cases) {
  struct Size {
    std::string name;
    std::vector<int64_t> lengths;
    int64_t heads, kv_heads, head_dim;
    std::optional<double> scale = {};
  };
  // 96 queries and 192 keys are handled together, fewer than 8 queries one by one: 200 tokens make two full
  // blocks of queries, one of keys, and remainders.
  const std::vector<Size> sizes = {
      {"no_sequences", {}, 2, 1, 4},         {"empty_sequence", {0}, 2, 1, 4},
      {"one_token", {1}, 2, 2, 3},           {"grouped", {5}, 6, 2, 8},
      {"one_kv_head", {9}, 3, 1, 5},         {"unequal_lengths", {3, 0, 17, 1}, 4, 2, 16},
      {"few_queries_edge", {7, 8}, 2, 1, 6}, {"block_edge", {96, 97}, 1, 1, 7},
      {"several_blocks", {200}, 2, 1, 33},   {"own_scale", {6}, 2, 2, 4, 0.7},
      {"few_queries_wide", {7}, 2, 1, 72},   {"three_key_blocks", {400}, 1, 1, 8}};
  for (const Size& size : sizes) {
    const Sequences sequences = Sequences::of_lengths(size.lengths);
    const Shape kv{sequences.tokens(), size.kv_heads * size.head_dim};
    cases.push_back({.name = "attention_" + size.name,
                     .operands = {{sequences.tokens(), size.heads * size.head_dim}, kv, kv},
                     .apply =
                         [size, sequences](const Context& context, const Vars& in) {
                           return attention(
                               context, {in[0], in[1], in[2]}, sequences,
                               {.heads = size.heads, .kv_heads = size.kv_heads, .scale = size.scale});
                         },
                     .sum_length = std::max(size.head_dim, sequences.longest())});
  }
}

std::string_view name_of(Activation activation) {
  return std::ranges::find(ActivationTypes::kNames, activation, [](const auto& each) { return each.second; })
      ->first;
}

struct GateSize {
  int64_t tokens, heads, head_dim;
};

OpCase gate_case(const GateForm& form, const GateSize& size) {
  const auto& [tokens, heads, head_dim] = size;
  const int64_t width = form.granularity == Granularity::Headwise ? 1 : head_dim;
  return {
      .name = fmt::format("gate_{}_{}_{}_{}_{}x{}x{}", name_of(form.activation),
                          form.mode == GateMode::Multiply ? "multiply" : "add",
                          form.granularity == Granularity::Headwise ? "headwise" : "elementwise",
                          form.sharing == Sharing::Shared ? "shared" : "specific", tokens, heads, head_dim),
      .operands = {{tokens, heads * head_dim}, {tokens, heads * width}},
      .apply = [form, count = heads](const Context& context,
                                     const Vars& in) { return gate(context, in[0], in[1], count, form); },
      .sum_length = heads * head_dim};
}

void add_gate_cases(std::vector<OpCase>& cases) {
  for (const auto granularity : {Granularity::Elementwise, Granularity::Headwise}) {
    for (const auto sharing : {Sharing::Specific, Sharing::Shared}) {
      for (const auto mode : {GateMode::Multiply, GateMode::Add}) {
        GateForm form{.mode = mode, .granularity = granularity, .sharing = sharing};
        for (const auto& [name, activation] : ActivationTypes::kNames) {
          form.activation = activation;
          cases.push_back(gate_case(form, {3, 3, 5}));
        }
        form.activation = Activation::Sigmoid;
        for (const GateSize& size :
             {GateSize{0, 2, 4}, GateSize{1, 1, 1}, GateSize{4, 1, 33}, GateSize{17, 4, 16}}) {
          cases.push_back(gate_case(form, size));
        }
      }
    }
  }
}

// What a gate applies, for those who look at it.
void add_gate_value_cases(std::vector<OpCase>& cases) {
  for (const auto& [name, activation] : ActivationTypes::kNames) {
    for (const auto sharing : {Sharing::Specific, Sharing::Shared}) {
      const GateForm form{.activation = activation, .sharing = sharing};
      cases.push_back(
          {.name = fmt::format("gate_values_{}_{}", name, sharing == Sharing::Shared ? "shared" : "specific"),
           .operands = {{7, 3 * 5}},
           .apply = [form](const Context& context,
                           const Vars& in) { return gate_values(context, in[0], 3, form); },
           .sum_length = 3});
    }
  }
}

// A gate that attention applies itself; 40 tokens are more than are handled one by one.
void add_gated_attention_cases(std::vector<OpCase>& cases) {
  constexpr int64_t kTokens = 40, kHeads = 4, kHeadDim = 6;
  for (const auto granularity : {Granularity::Elementwise, Granularity::Headwise}) {
    for (const auto mode : {GateMode::Multiply, GateMode::Add}) {
      for (const auto& [name, activation] : ActivationTypes::kNames) {
        const GateForm form{.activation = activation, .mode = mode, .granularity = granularity};
        const bool headwise = granularity == Granularity::Headwise;
        const Shape q{kTokens, kHeads * kHeadDim}, kv{kTokens, kHeads / 2 * kHeadDim};
        cases.push_back({.name = fmt::format("attention_gated_{}_{}_{}", name,
                                             mode == GateMode::Multiply ? "multiply" : "add",
                                             headwise ? "headwise" : "elementwise"),
                         .operands = {q, kv, kv, {kTokens, headwise ? kHeads : kHeads * kHeadDim}},
                         .apply =
                             [form](const Context& context, const Vars& in) {
                               return attention(context, {in[0], in[1], in[2], in[3]},
                                                Sequences::of_lengths({3, 37}),
                                                {.heads = kHeads, .kv_heads = kHeads / 2, .gate = form});
                             },
                         .sum_length = kTokens});
      }
    }
  }
}

void add_elementwise_cases(std::vector<OpCase>& cases) {
  for (const int64_t n : {0, 1, 15, 16, 17, 255, 1000, 40000}) {
    const Shape shape{n};
    cases.push_back({fmt::format("add_{}", n), {shape, shape}, [](const Context& context, const Vars& in) {
                       return add(context, in[0], in[1]);
                     }});
    cases.push_back({fmt::format("scale_{}", n), {shape}, [](const Context& context, const Vars& in) {
                       return scale(context, in[0], -1.7);
                     }});
    cases.push_back({fmt::format("mean_{}", n),
                     {shape},
                     [](const Context& context, const Vars& in) { return mean(context, in[0]); },
                     n});
    cases.push_back({fmt::format("swiglu_{}", n), {shape, shape}, [](const Context& context, const Vars& in) {
                       return swiglu(context, in[0], in[1]);
                     }});
    cases.push_back({fmt::format("clip_{}", n), {shape}, [](const Context& context, const Vars& in) {
                       return clip(context, in[0], 0.8);
                     }});
    cases.push_back({fmt::format("repeat_row_{}", n),
                     {shape},
                     [](const Context& context, const Vars& in) { return repeat_row(context, in[0], 5); },
                     5});
  }
  for (const int64_t columns : {0, 3, 7}) {
    cases.push_back({fmt::format("take_columns_{}_of_7", columns),
                     {{5, 7}},
                     [columns](const Context& context, const Vars& in) {
                       return take_columns(context, in[0], columns);
                     }});
  }
  cases.push_back({"add_to_itself", {{3, 5}}, [](const Context& context, const Vars& in) {
                     return add(context, in[0], in[0]);
                   }});
}

void add_loss_cases(std::vector<OpCase>& cases) {
  struct Size {
    int64_t rows, vocabulary, width, chunk;
  };
  for (const auto [rows, vocabulary, width, chunk] :
       {Size{0, 4, 3, 2}, Size{1, 1, 1, 1}, Size{7, 5, 3, 3}, Size{33, 17, 8, 32}, Size{9, 257, 15, 256}}) {
    cases.push_back(
        {.name = fmt::format("linear_cross_entropy_{}x{}x{}_chunk_{}", rows, vocabulary, width, chunk),
         .operands = {{rows, width}, {vocabulary, width}},
         .apply =
             [rows = rows, vocabulary = vocabulary, chunk = chunk](const Context& context, const Vars& in) {
               const auto target = [&](int64_t i) {  // every fifth is ignored
                 return i % 5 == 4 ? kIgnoredTarget : static_cast<int32_t>(i * 3 % vocabulary);
               };
               return linear_cross_entropy(context, in[0], in[1], ids(context, rows, target),
                                           {.chunk = chunk});
             },
         .sum_length = std::max(vocabulary, rows)});
  }
  cases.push_back(
      {"linear_cross_entropy_all_ignored", {{3, 4}, {5, 4}}, [](const Context& context, const Vars& in) {
         const auto ignored = [](int64_t) { return kIgnoredTarget; };
         return linear_cross_entropy(context, in[0], in[1], ids(context, 3, ignored));
       }});
}

}  // namespace

std::vector<OpCase> op_cases() {
  std::vector<OpCase> cases;
  add_embedding_cases(cases);
  add_linear_cases(cases);
  add_feed_forward_cases(cases);
  add_norm_cases(cases);
  add_norm_rope_cases(cases);
  add_attention_cases(cases);
  add_gate_cases(cases);
  add_gate_value_cases(cases);
  add_gated_attention_cases(cases);
  add_elementwise_cases(cases);
  add_loss_cases(cases);
  add_expert_cases(cases);
  return cases;
}

}  // namespace sluice::test
