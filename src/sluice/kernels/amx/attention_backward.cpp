// The gradient of causal attention on bf16 tiles, by blocks of 128 keys and 128 queries. Scores are computed
// with keys as rows: then the rows of Pᵀ and dSᵀ are A tiles of dV = Pᵀ dy and dK = dSᵀ Q as they are, and
// woven in pairs they are B tiles of dQᵀ = Kᵀ dSᵀ. Nothing of size T × T is transposed, dQ once at the end.
// All operands that come from outside are packed once.
//
// Not measured, like the forward pass. By counting instructions: for a head of 64 channels a score takes 0.62
// cycles in the five products, and about as much in vectors and in loads and stores of sums.
// Masked scores are multiplied as zeros where they share a group of 32 with others, so there a NaN in a query
// or in dy reaches the gradients of later keys of the group, which did not see it.
// Shapes: N tokens, H query heads, K key/value heads, hd head_dim.
#include "sluice/kernels/amx/pack_group.h"
#include "sluice/kernels/amx/softmax_rows.h"
#include "sluice/kernels/simd/attention_gate.h"
#include "sluice/kernels/simd_sets.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

constexpr int64_t kSums = kTileRows * kTileRows;
constexpr int64_t kBlockGroups = kTileBlock / kTilePair;

// Groups are of 32 keys or queries. Gradients are sums in tiles of 16 × 16 f32.
struct Buffers {
  int64_t width;                                      // hd, padded
  Bf16 *keys, *keys_by_rows;                          // straight; woven and turned
  Bf16* values;                                       // straight
  Bf16 *queries, *queries_by_rows, *dy, *dy_by_rows;  // of a head: turned; woven
  Bf16 *p, *ds;                                       // [32 keys, kTileBlockProbStride]
  Bf16* ds_by_keys;                                   // [4 groups of keys, 8 strips of queries, 16, 32]
  float *dk, *dv;              // [strips of keys, strips of channels, 16 keys, 16 channels]
  float* dq;                   // of a head [strips of queries, strips of channels, 16 channels, 16 queries]
  float *log_sum_exp, *delta;  // [queries of a head]; the first in powers of two
  MutableRows scores, dp;      // [32 keys, kTileBlockStride]
  MutableRows dy_rows;         // of 32 queries, before the gate

  int64_t group() const { return width * kTilePair; }  // elements
};

Buffers take_buffers(float* memory, const AttentionShape& shape) {
  const int64_t width = tile_padded(shape.head_dim), keys = tile_padded(shape.longest);
  Workspace workspace{memory, kTileBlockStride};
  const auto take_bf16 = [&](int64_t count) { return reinterpret_cast<Bf16*>(workspace.take(count / 2)); };
  return {.width = width,
          .keys = take_bf16(keys * width),
          .keys_by_rows = take_bf16(keys * width),
          .values = take_bf16(keys * width),
          .queries = take_bf16(keys * width),
          .queries_by_rows = take_bf16(keys * width),
          .dy = take_bf16(keys * width),
          .dy_by_rows = take_bf16(keys * width),
          .p = take_bf16(kTilePair * kTileBlockProbStride),
          .ds = take_bf16(kTilePair * kTileBlockProbStride),
          .ds_by_keys = take_bf16(kTileBlock * kTileBlock),
          .dk = workspace.take(keys * width),
          .dv = workspace.take(keys * width),
          .dq = workspace.take(keys * width),
          .log_sum_exp = workspace.take(keys),
          .delta = workspace.take(keys),
          .scores = workspace.take_rows(kTilePair),
          .dp = workspace.take_rows(kTilePair),
          .dy_rows = {workspace.take(kTilePair * (width + 16)), width + 16}};
}

// Groups `keys` of a sequence against groups `queries`, at most kBlockGroups each.
struct TileBlock {
  Range keys, queries;
};

// The 2 × 2 sums of group `row` and channels 32 · c … in a gradient whose tiles have rows of channels.
SumBlock sums_of(float* gradient, int64_t width, int64_t row, int64_t c) {
  const int64_t strips = width / kTileRows;
  return {.first = gradient + kStripsPerPair * (row * strips + c) * kSums,
          .row_bytes = amx::kRowBytes,
          .down = strips * kSums,
          .right = kSums};
}

// The same with channels down and queries to the right.
SumBlock turned_sums_of(float* gradient, int64_t width, int64_t row, int64_t c) {
  const SumBlock sums = sums_of(gradient, width, row, c);
  return {.first = sums.first, .row_bytes = sums.row_bytes, .down = sums.right, .right = sums.down};
}

// One key/value head of one sequence with all its query heads.
class TileBackward {
 public:
  TileBackward(const AttentionBackward<float>& args, int64_t unit, float* workspace)
      : args_(args),
        sequence_(unit / args.shape.kv_heads),
        kv_head_(unit % args.shape.kv_heads),
        group_(args.shape.heads / args.shape.kv_heads),
        at_(head_pair(args.shape, sequence_, kv_head_ * group_)),
        groups_(tile_padded(at_.length) / kTilePair),
        buffers_(take_buffers(workspace, args.shape)) {}

  void run() const {
    const int64_t count = groups_ * buffers_.group();
    pack_keys();
    clear(buffers_.dk, count);
    clear(buffers_.dv, count);
    amx::begin_tiles();
    for (int64_t head = kv_head_ * group_; head < (kv_head_ + 1) * group_; ++head) run_head(head);
    amx::end_tiles();
    write(buffers_.dk, args_.scale, rows_of(args_.dk, at_.key));
    write(buffers_.dv, 1.0F, rows_of(args_.dv, at_.key));
  }

 private:
  RowGroup group_of(ConstRows rows, int64_t group) const {
    const int64_t first = group * kTilePair, left = at_.length - first;
    return {rows.from(first), left < kTilePair ? left : kTilePair, args_.shape.head_dim};
  }

  void pack_keys() const {
    for (int64_t g = 0; g < groups_; ++g) {
      const int64_t at = g * buffers_.group();
      const RowGroup keys = group_of(rows_of(args_.k, at_.key), g);
      pack_straight(keys, buffers_.keys + at);
      pack_woven_turned(keys, buffers_.keys_by_rows + at);
      // Queries that see a key which is not finite have a dS that is none, either; the others do not look.
      copy_finite(buffers_.keys_by_rows + at, buffers_.group(), buffers_.keys_by_rows + at);
      pack_straight(group_of(rows_of(args_.v, at_.key), g), buffers_.values + at);
    }
  }

  void pack_queries(const HeadPair& at) const {
    for (int64_t g = 0; g < groups_; ++g) {
      const int64_t to = g * buffers_.group();
      const RowGroup queries = group_of(rows_of(args_.q, at.query), g);
      const RowGroup dy = dy_of(at, g);
      pack_turned(queries, buffers_.queries + to);
      pack_woven(queries, buffers_.queries_by_rows + to);
      pack_turned(dy, buffers_.dy + to);
      pack_woven(dy, buffers_.dy_by_rows + to);
      take_constants(at, g, dy);
    }
  }

  // Before the gate, if there is one.
  RowGroup dy_of(const HeadPair& at, int64_t group) const {
    RowGroup dy = group_of(rows_of(args_.dy, at.query), group);
    if (args_.gate.scores == nullptr) return dy;
    for (int64_t r = 0; r < dy.count; ++r) {
      const int64_t row = (at.start + group * kTilePair + r) * args_.shape.heads + at.query.index;
      gate_result_backward(args_, row, buffers_.dy_rows.at(r));
    }
    dy.rows = readable(buffers_.dy_rows);
    return dy;
  }

  // Queries behind the last one get probabilities of 0.
  void take_constants(const HeadPair& at, int64_t group, const RowGroup& dy) const {
    const ConstRows y = rows_of(args_.y, at.query).from(group * kTilePair);
    for (int64_t r = 0; r < kTilePair; ++r) {
      const int64_t query = group * kTilePair + r;
      const bool there = r < dy.count;
      const int64_t row = (at.start + query) * args_.shape.heads + at.query.index;
      buffers_.log_sum_exp[query] = there ? args_.log_sum_exp[row] * kLog2E : kInfinity;
      buffers_.delta[query] = there ? rounded_dot(dy.rows.at(r), y.at(r)) : 0.0F;
    }
  }

  // dy · y with the dy that the products see: what is left of dp - delta is small against either.
  float rounded_dot(const float* dy, const float* y) const {
    __m512 total = _mm512_setzero_ps();
    for (int64_t i = 0; i < args_.shape.head_dim; i += kTileRows) {
      const int64_t left = args_.shape.head_dim - i;
      const __m512i bf16 = to_bf16(load_part(dy + i, left), _mm512_setzero_ps());
      const __m512i wide = _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(bf16)), 16);
      total = _mm512_fmadd_ps(_mm512_castsi512_ps(wide), load_part(y + i, left), total);
    }
    return _mm512_reduce_add_ps(total);
  }

  void run_head(int64_t head) const {
    const HeadPair at = head_pair(args_.shape, sequence_, head);
    pack_queries(at);
    clear(buffers_.dq, groups_ * buffers_.group());
    for (int64_t k = 0; k < groups_; k += kBlockGroups) {
      for (int64_t q = k; q < groups_; q += kBlockGroups) add_block({block_from(k), block_from(q)});
    }
    write_turned(buffers_.dq, args_.scale, rows_of(args_.dq, at.query));
  }

  Range block_from(int64_t group) const {
    return {group, group + kBlockGroups < groups_ ? group + kBlockGroups : groups_};
  }

  // With P = softmax(S):  dV += Pᵀ dy,  dS = P ∘ (dy Vᵀ - delta),  dQ = dS K,  dK += dSᵀ Q.
  void add_block(const TileBlock& block) const {
    for (int64_t k = block.keys.begin; k < block.keys.end; ++k) {
      // Queries before the first key of the group do not see it.
      const Range queries{k > block.queries.begin ? k : block.queries.begin, block.queries.end};
      for (int64_t q = queries.begin; q < queries.end; ++q) {
        multiply_channels(k, q, q - block.queries.begin);
        take_scores({k, k - block.keys.begin}, {q, q - block.queries.begin});
      }
      const int64_t column = (queries.begin - block.queries.begin) * kTilePair;
      add_queries(buffers_.p + column, buffers_.dy_by_rows, {k, queries}, buffers_.dv);
      add_queries(buffers_.ds + column, buffers_.queries_by_rows, {k, queries}, buffers_.dk);
    }
    for (int64_t q = block.queries.begin; q < block.queries.end; ++q) add_keys(block, q);
  }

  // Scores and dp of a group of keys and a group of queries, in group `column` of their rows.
  void multiply_channels(int64_t k, int64_t q, int64_t column) const {
    const int64_t width = buffers_.width, group = buffers_.group();
    const auto to = [&](MutableRows rows) {
      return SumBlock{.first = rows.data + column * kTilePair,
                      .row_bytes = rows.stride * 4,
                      .down = kTileRows * rows.stride,
                      .right = kTileRows};
    };
    multiply(by_channels(buffers_.keys + k * group, width), by_channels(buffers_.queries + q * group, width),
             width / kTileDepth, to(buffers_.scores));
    multiply(by_channels(buffers_.values + k * group, width), by_channels(buffers_.dy + q * group, width),
             width / kTileDepth, to(buffers_.dp));
  }

  // A group of the sequence, and which one of its block it is.
  struct GroupAt {
    int64_t group, in_block;
  };

  struct PowerPair {
    __m512 p[2], ds[2];  // of 32 queries
  };

  void take_scores(const GroupAt& k, const GroupAt& q) const {
    const float* log_sum_exp = buffers_.log_sum_exp + q.group * kTilePair;
    const float* delta = buffers_.delta + q.group * kTilePair;
    const __m512 lse[2] = {_mm512_loadu_ps(log_sum_exp), _mm512_loadu_ps(log_sum_exp + kTileRows)};
    const __m512 deltas[2] = {_mm512_loadu_ps(delta), _mm512_loadu_ps(delta + kTileRows)};
    const __m512 factor = _mm512_set1_ps(args_.scale * kLog2E);
    const int64_t column = q.in_block * kTilePair;
    const auto row = [&](int64_t r) {
      // On the diagonal, key r is seen by queries r and later.
      const uint32_t seen = k.group == q.group ? 0xffffffffU << r : 0xffffffffU;
      PowerPair pair;
      for (int64_t v = 0; v < 2; ++v) {
        const auto mask = static_cast<__mmask16>(seen >> (16 * v));
        const float* scores = buffers_.scores.at(r) + column + v * kTileRows;
        const float* dp = buffers_.dp.at(r) + column + v * kTileRows;
        const __m512 power = exp2(_mm512_fmsub_ps(factor, _mm512_loadu_ps(scores), lse[v]));
        pair.p[v] = _mm512_maskz_mov_ps(mask, power);
        pair.ds[v] = _mm512_maskz_mul_ps(mask, power, _mm512_sub_ps(_mm512_loadu_ps(dp), deltas[v]));
      }
      return pair;
    };
    Bf16* by_keys =
        buffers_.ds_by_keys + (k.in_block * kBlockGroups + q.in_block) * kStripsPerPair * kTileElements;
    for (int64_t r = 0; r < kTilePair; r += 2) {
      const PowerPair even = row(r), odd = row(r + 1);
      const int64_t to = r * kTileBlockProbStride + column;
      store_bf16_row(even.p[0], even.p[1], buffers_.p + to);
      store_bf16_row(odd.p[0], odd.p[1], buffers_.p + to + kTileBlockProbStride);
      store_bf16_row(even.ds[0], even.ds[1], buffers_.ds + to);
      store_bf16_row(odd.ds[0], odd.ds[1], buffers_.ds + to + kTileBlockProbStride);
      store_woven(even.ds[0], odd.ds[0], by_keys + r / 2 * kTileDepth);
      store_woven(even.ds[1], odd.ds[1], by_keys + kTileElements + r / 2 * kTileDepth);
    }
  }

  struct KeysAndQueries {
    int64_t keys;
    Range queries;
  };

  // gradient of a group of keys += probs [keys, queries] · rows of the queries
  void add_queries(const Bf16* probs, const Bf16* rows, const KeysAndQueries& groups, float* gradient) const {
    const TilePairs a{probs, probs + kTileRows * kTileBlockProbStride, kTileBlockProbStride * 2, kTileDepth};
    const auto& [begin, end] = groups.queries;
    for (int64_t c = 0; c < buffers_.width / kTilePair; ++c) {
      multiply_add(a, by_rows(rows + begin * buffers_.group(), buffers_.width, c), end - begin,
                   sums_of(gradient, buffers_.width, groups.keys, c));
    }
  }

  // dQᵀ of a group of queries += Kᵀ · dSᵀ over the keys of the block that it sees.
  void add_keys(const TileBlock& block, int64_t q) const {
    const int64_t end = q + 1 < block.keys.end ? q + 1 : block.keys.end;
    const Bf16* ds = buffers_.ds_by_keys + (q - block.queries.begin) * kStripsPerPair * kTileElements;
    const TilePairs b{ds, ds + kTileElements, amx::kRowBytes, kBlockGroups * kStripsPerPair * kTileElements};
    const Bf16* keys = buffers_.keys_by_rows + block.keys.begin * buffers_.group();
    for (int64_t c = 0; c < buffers_.width / kTilePair; ++c) {
      multiply_add(by_rows(keys, buffers_.width, c), b, end - block.keys.begin,
                   turned_sums_of(buffers_.dq, buffers_.width, q, c));
    }
  }

  // Channels 16 · c … of a row, times `factor`. The sums are f32, be they in a tile of words.
  void write_channels(const void* sums, float factor, int64_t c, float* row) const {
    const __mmask16 lanes = first_lanes(args_.shape.head_dim - c * kTileRows);
    const __m512 scaled = _mm512_mul_ps(_mm512_loadu_ps(sums), _mm512_set1_ps(factor));
    _mm512_mask_storeu_ps(row + c * kTileRows, lanes, scaled);
  }

  void write(const float* gradient, float factor, MutableRows to) const {
    const int64_t strips = buffers_.width / kTileRows;
    for (int64_t row = 0; row < at_.length; ++row) {
      const float* sums = gradient + row / kTileRows * strips * kSums + row % kTileRows * kTileRows;
      for (int64_t c = 0; c < strips; ++c) write_channels(sums + c * kSums, factor, c, to.at(row));
    }
  }

  void write_turned(const float* gradient, float factor, MutableRows to) const {
    const int64_t strips = buffers_.width / kTileRows;
    for (int64_t first = 0; first < at_.length; first += kTileRows) {
      const int64_t rows = at_.length - first < kTileRows ? at_.length - first : kTileRows;
      for (int64_t c = 0; c < strips; ++c) {
        const float* sums = gradient + (first / kTileRows * strips + c) * kSums;
        alignas(64) Words tile;
        transpose_words(*reinterpret_cast<const Words*>(sums), tile);
        for (int64_t r = 0; r < rows; ++r) write_channels(tile[r], factor, c, to.at(first + r));
      }
    }
  }

  const AttentionBackward<float>& args_;
  int64_t sequence_, kv_head_;
  int64_t group_;  // query heads
  HeadPair at_;
  int64_t groups_;  // of 32 tokens
  Buffers buffers_;
};

}  // namespace

void attention_backward(const AttentionBackward<float>& args, int64_t unit, float* workspace) {
  const int64_t* start = args.shape.starts + unit / args.shape.kv_heads;
  if (start[1] - start[0] < kFewQueries) return simd_avx512::attention_backward(args, unit, workspace);
  TileBackward(args, unit, workspace).run();
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
