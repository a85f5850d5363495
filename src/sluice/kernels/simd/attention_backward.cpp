// The gradient of causal attention by blocks of queries and keys. Bounded by multiply-adds.
// Shapes: N tokens, H query heads, K key/value heads, hd head_dim.
#include "sluice/kernels/simd/attention_gate.h"
#include "sluice/kernels/simd/block_product.h"
#include "sluice/kernels/simd/register.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

struct RowConstants {
  float scale, log_sum_exp;
  float delta;  // dy · y
};

// scores → p = exp(scale · score - log_sum_exp), dp → scale · p · (dp - delta)
void softmax_row_backward(float* scores, float* dp, int64_t n, const RowConstants& row) {
  const Vector scale = set(row.scale);
  for_each_vector(0, n, [&](int64_t i, auto part) {
    const Vector p = exp(hn::MulSub(scale, load(scores + i, part), set(row.log_sum_exp)));
    const Vector centred = hn::Sub(load(dp + i, part), set(row.delta));
    store(p, scores + i, part);
    store(hn::Mul(hn::Mul(scale, p), centred), dp + i, part);
  });
}

// One key/value head of one sequence with all its query heads.
class BackwardHead {
 public:
  BackwardHead(const AttentionBackward<float>& args, int64_t unit, float* workspace)
      : args_(args),
        sequence_(unit / args.shape.kv_heads),
        kv_head_(unit % args.shape.kv_heads),
        workspace_{workspace, attention_row_stride(args.shape)},
        key_panels_(workspace_.take(attention_key_rows(args.shape) * args.shape.head_dim)),
        value_panels_(workspace_.take(attention_key_rows(args.shape) * args.shape.head_dim)),
        keys_(workspace_.take_rows(attention_key_rows(args.shape))),
        dk_(workspace_.take_rows(attention_key_rows(args.shape))),
        dv_(workspace_.take_rows(attention_key_rows(args.shape))),
        queries_(workspace_.take_rows(kQueryBlock)),
        dy_(workspace_.take_rows(kQueryBlock)),
        dq_(workspace_.take_rows(kQueryBlock)),
        p_{workspace_.take(kQueryBlock * kScoreStride), kScoreStride},
        ds_{workspace_.take(kQueryBlock * kScoreStride), kScoreStride} {}

  void run() {
    const auto& shape = args_.shape;
    const int64_t group = shape.heads / shape.kv_heads;
    const HeadPair at = head_pair(shape, sequence_, kv_head_ * group);
    turn_keys(rows_of(args_.k, at.key), at.length, shape.head_dim, key_panels_);
    turn_keys(rows_of(args_.v, at.key), at.length, shape.head_dim, value_panels_);
    // Queries that see a key which is not finite have a dS that is none, either. For the others it would be
    // 0 · NaN.
    copy_finite_rows(rows_of(args_.k, at.key), at.length, shape.head_dim, keys_);
    clear_rows(dk_, 0, attention_key_rows(shape));
    clear_rows(dv_, 0, attention_key_rows(shape));
    for (int64_t g = 0; g < group; ++g) {
      const HeadPair head = head_pair(shape, sequence_, kv_head_ * group + g);
      for (int64_t first = 0; first < head.length; first += kQueryBlock) run_block(head, first);
    }
    store_rows(readable(dk_), at.length, rows_of(args_.dk, at.key));
    store_rows(readable(dv_), at.length, rows_of(args_.dv, at.key));
  }

 private:
  // With P = softmax(S):  dV += Pᵀ dy,  dS = P ∘ (dy Vᵀ - delta),  dQ = dS K,  dK += dSᵀ Q.
  void run_block(const HeadPair& at, int64_t first) {
    const int64_t hd = args_.shape.head_dim;
    const int64_t left = at.length - first;
    Block block{.first = first,
                .rows = left < kQueryBlock ? left : kQueryBlock,
                .from = 0,
                .keys = 0,
                .head_dim = hd};
    load_rows(rows_of(args_.q, at.query).from(first), block, queries_);
    load_rows(rows_of(args_.dy, at.query).from(first), block, dy_);
    clear_rows(dq_, 0, kQueryBlock);
    const auto row_of = [&](int64_t r) {
      return (at.start + first + r) * args_.shape.heads + at.query.index;
    };
    if (args_.gate.scores != nullptr) {
      for (int64_t r = 0; r < block.rows; ++r) gate_result_backward(args_, row_of(r), dy_.at(r));
    }
    RowConstants constants[kQueryBlock];
    for (int64_t r = 0; r < block.rows; ++r) {
      const float* y = rows_of(args_.y, at.query).at(first + r);
      constants[r] = {args_.scale, args_.log_sum_exp[row_of(r)], dot(dy_.at(r), y, hd)};
    }
    const int64_t end = block.first + block.rows;
    for (; block.from < end; block.from += kKeyBlock) {
      block.keys = end - block.from < kKeyBlock ? end - block.from : kKeyBlock;
      add_keys(block, constants);
    }
    store_rows(readable(dq_), block.rows, rows_of(args_.dq, at.query).from(first));
  }

  void add_keys(const Block& block, const RowConstants* constants) {
    score_product(block, readable(queries_), key_panels_, p_);
    score_product(block, readable(dy_), value_panels_, ds_);
    for (int64_t r = 0; r < block.rows; ++r) {
      const int64_t seen = block.seen(r);
      softmax_row_backward(p_.at(r), ds_.at(r), seen, constants[r]);
      clear(p_.at(r) + seen, block.padded_keys() - seen);
      clear(ds_.at(r) + seen, block.padded_keys() - seen);
    }
    add_query_product(block, readable(p_), readable(dy_), dv_);
    add_query_product(block, readable(ds_), readable(queries_), dk_);
    add_key_product(block, readable(ds_), readable(keys_), dq_);
  }

  void load_rows(ConstRows from, const Block& block, MutableRows to) const {
    copy_rows(from, block.rows, block.head_dim, to);
    clear_rows(to, block.rows, kQueryBlock);
  }

  void store_rows(ConstRows from, int64_t count, MutableRows to) const {
    for (int64_t r = 0; r < count; ++r)
      std::memcpy(to.at(r), from.at(r), static_cast<size_t>(args_.shape.head_dim) * sizeof(float));
  }

  const AttentionBackward<float>& args_;
  int64_t sequence_, kv_head_;
  Workspace workspace_;
  float *key_panels_, *value_panels_;  // as from turn_keys
  MutableRows keys_, dk_, dv_;         // of the whole sequence
  MutableRows queries_, dy_, dq_;      // of a block
  MutableRows p_, ds_;
};

}  // namespace

void attention_backward(const AttentionBackward<float>& args, int64_t unit, float* workspace) {
  BackwardHead(args, unit, workspace).run();
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
