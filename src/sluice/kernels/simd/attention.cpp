// Causal attention by blocks of queries and keys with a running softmax: scores never leave the second-level
// cache. Bounded by multiply-adds; docs/kernels.md has the figures.
// Shapes: N tokens, H query heads, K key/value heads, hd head_dim.
#include "sluice/kernels/simd/attention_output.h"
#include "sluice/kernels/simd/block_product.h"
#include "sluice/kernels/simd/register.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

// The sum of exp(score - top) · (score - top) over a row of scores that are not scaled yet.
float weighted_scores(const float* scores, int64_t n, float scale, float top) {
  return sum(n, [&](int64_t i, auto part, Vector total) {
    // Of a score of -inf nothing is left, not 0 · inf.
    const Vector x = hn::Max(hn::MulSub(set(scale), load(scores + i, part), set(top)), set(-kLargestFloat));
    return hn::Add(total, pad(hn::Mul(exp(x), x), 0.0F, part));
  });
}

enum class Entropy { Unwanted, Wanted };

struct ScoreRow {
  float* scores;
  int64_t count;
  float scale;
};

// Scores become exp(scale · score - the new top). Returns the factor for what was summed up under the old
// top.
float take_scores(RunningSoftmax& softmax, const ScoreRow& row, Entropy entropy) {
  const auto& [scores, n, scale] = row;
  const Vector factor = set(scale);
  const float here =
      largest(n, [&](int64_t i, auto part) { return hn::Mul(factor, load(row.scores + i, part)); });
  const float top = here > softmax.top ? here : softmax.top;
  // While all scores are -inf, any number may be subtracted from them but -inf itself.
  const float base = top == -kInfinity ? 0.0F : top;
  const float correction = hn::GetLane(exp(set(softmax.top - base)));
  if (entropy == Entropy::Wanted) {
    // With nothing summed up, the old top is -inf and 0 · inf would follow.
    const float moved = softmax.sum > 0 ? softmax.weighted + softmax.sum * (softmax.top - top) : 0.0F;
    softmax.weighted = correction * moved + weighted_scores(scores, n, scale, base);
  }
  // One sum: the next exp is longer than its addition, and more would leave exp's constants no registers.
  Vector total = hn::Zero(tag);
  for_each_vector(0, n, [&](int64_t i, auto part) {
    const Vector p = exp(hn::MulSub(factor, load(row.scores + i, part), set(base)));
    store(p, row.scores + i, part);
    total = hn::Add(total, pad(p, 0.0F, part));
  });
  softmax.top = top;
  softmax.sum = softmax.sum * correction + sum_of_lanes(total);
  return correction;
}

// Copies that the heads of a unit share, and room for a block of one of them.
struct Buffers {
  float* panels;             // keys, as from turn_keys
  MutableRows values;        // zeros behind the last column
  MutableRows queries, out;  // of a block
  MutableRows scores;
};

Buffers take_buffers(Workspace& workspace, const AttentionShape& shape) {
  return {.panels = workspace.take(attention_key_rows(shape) * shape.head_dim),
          .values = workspace.take_rows(attention_key_rows(shape)),
          .queries = workspace.take_rows(kQueryBlock),
          .out = workspace.take_rows(kQueryBlock),
          .scores = {workspace.take(kQueryBlock * kScoreStride), kScoreStride}};
}

// One head of one sequence.
class ForwardHead {
 public:
  ForwardHead(const AttentionForward<float>& args, const HeadOutput& output)
      : args_(args), output_(output), at_(output.at()) {}

  void run(const Buffers& buffers) const {
    for (int64_t first = 0; first < at_.length; first += kQueryBlock) run_block(buffers, first);
  }

  // Query by query on keys and values where they lie.
  void run_few(Workspace workspace) const {
    const auto& shape = args_.shape;
    const ConstRows k = rows_of(args_.k, at_.key), v = rows_of(args_.v, at_.key);
    float* sums = workspace.take(workspace.stride);
    float* scores = workspace.take(attention_key_rows(shape));
    for (int64_t query = 0; query < at_.length; ++query) {
      const float* q = rows_of(args_.q, at_.query).at(query);
      const int64_t seen = shape.past + query + 1;
      for (int64_t j = 0; j < seen; ++j) scores[j] = dot(q, k.at(j), shape.head_dim);
      RunningSoftmax softmax;
      take_row(query, 0, {scores, seen, args_.scale}, softmax);
      weighted_sum(scores, v, seen, sums);
      output_.finish(query, softmax, sums);
    }
  }

 private:
  void run_block(const Buffers& buffers, int64_t first) const {
    const auto& shape = args_.shape;
    const int64_t left = at_.length - first;
    Block block{.first = shape.past + first,
                .rows = left < kQueryBlock ? left : kQueryBlock,
                .from = 0,
                .keys = 0,
                .head_dim = shape.head_dim};
    copy_rows(rows_of(args_.q, at_.query).from(first), block.rows, shape.head_dim, buffers.queries);
    clear_rows(buffers.queries, block.rows, kQueryBlock);
    clear_rows(buffers.out, 0, kQueryBlock);
    RunningSoftmax softmax[kQueryBlock];
    const int64_t end = block.first + block.rows;
    for (; block.from < end; block.from += kKeyBlock) {
      block.keys = end - block.from < kKeyBlock ? end - block.from : kKeyBlock;
      score_product(block, readable(buffers.queries), buffers.panels, buffers.scores);
      for (int64_t r = 0; r < block.rows; ++r) {
        const ScoreRow row{buffers.scores.at(r), block.seen(r), args_.scale};
        if (row.count == 0) continue;
        const float correction = take_row(first + r, block.from, row, softmax[r]);
        float* out = buffers.out.at(r);
        if (correction != 1.0F) multiply_row(out, correction, buffers.out.stride, out);
      }
      add_seen_product(block, readable(buffers.scores), readable(buffers.values), buffers.out);
    }
    for (int64_t r = 0; r < block.rows; ++r) output_.finish(first + r, softmax[r], buffers.out.at(r));
  }

  // Turns the scores of a query against keys `from` … into exponentials; returns the factor as take_scores
  // does.
  float take_row(int64_t query, int64_t from, const ScoreRow& row, RunningSoftmax& softmax) const {
    // Scores first: what is to be subtracted from them is known at the end.
    if (float* out = output_.probs(query); out != nullptr)
      multiply_row(row.scores, row.scale, row.count, out + from);
    if (from == 0) softmax.first = row.scale * row.scores[0];
    return take_scores(softmax, row, args_.entropy == nullptr ? Entropy::Unwanted : Entropy::Wanted);
  }

  // sums[hd] = weights[n] · rows[n, hd]
  void weighted_sum(const float* weights, ConstRows rows, int64_t n, float* sums) const {
    const int64_t hd = args_.shape.head_dim;
    int64_t c = 0;
    // Four vectors of a row at a time: as many additions under way as their latency asks for.
    for (; c + 4 * kLanes <= hd; c += 4 * kLanes) {
      Vector total[4] = {hn::Zero(tag), hn::Zero(tag), hn::Zero(tag), hn::Zero(tag)};
      for (int64_t j = 0; j < n; ++j) {
        for (int64_t i = 0; i < 4; ++i)
          total[i] = hn::MulAdd(set(weights[j]), load(rows.at(j) + c + i * kLanes, Full{}), total[i]);
      }
      for (int64_t i = 0; i < 4; ++i) store(total[i], sums + c + i * kLanes, Full{});
    }
    for_each_vector(c, hd, [&](int64_t at, auto part) {
      Vector total = hn::Zero(tag);
      for (int64_t j = 0; j < n; ++j) total = hn::MulAdd(set(weights[j]), load(rows.at(j) + at, part), total);
      store(total, sums + at, part);
    });
  }

  const AttentionForward<float>& args_;
  const HeadOutput& output_;
  const HeadPair& at_;
};

}  // namespace

void attention_forward(const AttentionForward<float>& args, int64_t unit, float* memory) {
  const auto& shape = args.shape;
  const int64_t parts = shape.heads / args.heads_per_unit;
  const int64_t sequence = unit / parts;
  const int64_t head = unit % parts * args.heads_per_unit;
  const HeadPair at = head_pair(shape, sequence, head);
  const bool few = at.length < kFewQueries;
  Workspace workspace{memory, attention_row_stride(shape)};
  const Buffers buffers = take_buffers(workspace, shape);
  if (!few) {
    turn_keys(rows_of(args.k, at.key), shape.past + at.length, shape.head_dim, buffers.panels);
    copy_rows(rows_of(args.v, at.key), shape.past + at.length, shape.head_dim, buffers.values);
  }
  for (int64_t h = head; h < head + args.heads_per_unit; ++h) {
    const HeadOutput output(args, sequence, h);
    const ForwardHead one(args, output);
    few ? one.run_few({memory, workspace.stride}) : one.run(buffers);
  }
}

void add_attention(Kernels<float>& table) {
  table.attention_forward = attention_forward;
  table.attention_backward = attention_backward;
  // Without tiles nothing is gained by rounding.
  table.attention_forward_bf16 = attention_forward;
  table.attention_backward_bf16 = attention_backward;
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
