// Causal attention on bf16 tiles. Keys and values are packed once for all heads that share them; then 32
// queries at a time meet 256 keys: scores from the tile unit, softmax on vectors, its rows as they are the
// A tiles of the product with the values.
//
// Not measured: no machine with tiles was at hand, an emulator checked the values. By counting instructions
// it is bounded by the exponentials, not by the tile unit. For a head of 64 channels a score takes a quarter
// of a cycle in the products and about 0.4 in vectors (13 for 32 lanes); together with loads and stores of
// sums that would be 0.3 of the peak, and 0.45 for 128 channels. Products and exponentials of different rows
// do not overlap yet beyond what the CPU reorders by itself.
// Shapes: N tokens, H query heads, K key/value heads, hd head_dim.
#include "sluice/kernels/amx/pack_group.h"
#include "sluice/kernels/amx/softmax_rows.h"
#include "sluice/kernels/simd_sets.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

// Up to 32 queries of a block against up to kTileKeys keys. Queries are numbered like keys: the first one
// after a past of 10 is 10.
struct Strip {
  int64_t row;  // of the block
  int64_t first, rows;
  int64_t from;  // the first key, a multiple of kTileKeys

  // How many of the keys query r of the strip sees.
  int64_t seen(int64_t r) const {
    const int64_t count = first + r + 1 - from;
    return count < 0 ? 0 : count < kTileKeys ? count : kTileKeys;
  }

  // Groups of 32 keys of which one query sees something, and of which all queries see everything.
  int64_t groups() const { return tile_padded(seen(rows - 1)) / kTilePair; }
  int64_t whole_groups() const { return seen(0) / kTilePair; }
};

// Keys and values of a sequence as tiles, and room for a block of queries.
struct Buffers {
  int64_t width;  // hd, padded
  Bf16* keys;     // turned groups
  Bf16* values;   // woven groups
  Bf16* queries;  // straight groups
  Bf16* probs;    // [32, kTileProbStride]
  Bf16* finite;   // a woven group
  MutableRows out;
  MutableRows scores;  // [32, kTileScoreStride]
  uint8_t* odd;        // by groups of keys: some value is not finite

  int64_t group() const { return width * kTilePair; }  // elements
};

Buffers take_buffers(float* memory, const AttentionShape& shape) {
  const int64_t width = tile_padded(shape.head_dim), keys = tile_padded(shape.longest);
  Workspace workspace{memory, width + 16};
  const auto take_bf16 = [&](int64_t count) { return reinterpret_cast<Bf16*>(workspace.take(count / 2)); };
  return {.width = width,
          .keys = take_bf16(keys * width),
          .values = take_bf16(keys * width),
          .queries = take_bf16(kTileQueries * width),
          .probs = take_bf16(kTilePair * kTileProbStride),
          .finite = take_bf16(kTilePair * width),
          .out = workspace.take_rows(kTileQueries),
          .scores = {workspace.take(kTilePair * kTileScoreStride), kTileScoreStride},
          .odd = reinterpret_cast<uint8_t*>(workspace.next)};
}

void pack_keys_and_values(const AttentionForward<float>& args, const HeadPair& at, const Buffers& buffers) {
  const ConstRows k = rows_of(args.k, at.key), v = rows_of(args.v, at.key);
  const int64_t keys = args.shape.past + at.length;
  for (int64_t first = 0; first < keys; first += kTilePair) {
    const int64_t group = first / kTilePair;
    const int64_t count = keys - first < kTilePair ? keys - first : kTilePair;
    Bf16* values = buffers.values + group * buffers.group();
    pack_turned({k.from(first), count, args.shape.head_dim}, buffers.keys + group * buffers.group());
    pack_woven({v.from(first), count, args.shape.head_dim}, values);
    buffers.odd[group] = all_finite(values, buffers.group()) ? 0 : 1;
  }
}

// One query head of one sequence.
class TileHead {
 public:
  TileHead(const AttentionForward<float>& args, const HeadOutput& output, const Buffers& buffers)
      : args_(args), output_(output), at_(output.at()), buffers_(buffers) {}

  void run() const {
    for (int64_t first = 0; first < at_.length; first += kTileQueries) run_block(first);
  }

 private:
  void run_block(int64_t first) const {
    const int64_t left = at_.length - first;
    const int64_t rows = left < kTileQueries ? left : kTileQueries;
    const ConstRows q = rows_of(args_.q, at_.query).from(first);
    for (int64_t r = 0; r < rows; r += kTilePair) {
      const int64_t count = rows - r < kTilePair ? rows - r : kTilePair;
      pack_straight({q.from(r), count, args_.shape.head_dim}, buffers_.queries + r * buffers_.width);
    }
    clear_rows(buffers_.out, 0, kTileQueries);
    PowerSoftmax softmax[kTileQueries];
    const int64_t position = args_.shape.past + first;
    for (int64_t from = 0; from < position + rows; from += kTileKeys) {
      for (int64_t r = 0; r < rows; r += kTilePair) {
        const Strip strip{.row = r,
                          .first = position + r,
                          .rows = rows - r < kTilePair ? rows - r : kTilePair,
                          .from = from};
        if (strip.groups() == 0) continue;
        multiply_keys(strip);
        take_scores(strip, softmax + r);
        add_values(strip);
      }
    }
    for (int64_t r = 0; r < rows; ++r) output_.finish(first + r, softmax[r].natural(), buffers_.out.at(r));
  }

  void multiply_keys(const Strip& strip) const {
    const int64_t width = buffers_.width;
    const TilePairs queries = by_channels(buffers_.queries + strip.row * width, width);
    for (int64_t g = 0; g < strip.groups(); ++g) {
      const Bf16* keys = buffers_.keys + (strip.from / kTilePair + g) * buffers_.group();
      multiply(queries, by_channels(keys, width), width / kTileDepth,
               {.first = buffers_.scores.data + g * kTilePair,
                .row_bytes = kTileScoreStride * 4,
                .down = kTileRows * kTileScoreStride,
                .right = kTileRows});
    }
  }

  void take_scores(const Strip& strip, PowerSoftmax* softmax) const {
    const Entropy entropy = args_.entropy == nullptr ? Entropy::Unwanted : Entropy::Wanted;
    for (int64_t r = 0; r < strip.rows; ++r) {
      const PowerRow row{.scores = buffers_.scores.at(r),
                         .count = strip.seen(r),
                         .padded = strip.groups() * kTilePair,
                         .factor = args_.scale * kLog2E};
      Bf16* probs = buffers_.probs + r * kTileProbStride;
      if (row.count == 0) {
        clear_probs(probs, row.padded);
        continue;
      }
      if (float* out = output_.probs(strip.first + r - args_.shape.past); out != nullptr)
        multiply_row(row.scores, args_.scale, row.count, out + strip.from);
      if (strip.from == 0) softmax[r].first = row.factor * row.scores[0];
      const float correction = take_row(softmax[r], row, entropy, probs);
      float* sums = buffers_.out.at(strip.row + r);
      if (correction != 1.0F) multiply_row(sums, correction, buffers_.width, sums);
    }
  }

  void add_values(const Strip& strip) const {
    const int64_t groups = strip.groups();
    int64_t done = 0;
    for (int64_t g = strip.whole_groups(); g < groups; ++g) {
      if (buffers_.odd[strip.from / kTilePair + g] == 0) continue;
      add_groups(strip, {done, g}, values_of(strip, done));
      copy_finite(values_of(strip, g), buffers_.group(), buffers_.finite);
      add_groups(strip, {g, g + 1}, buffers_.finite);
      add_odd_values(strip, g);
      done = g + 1;
    }
    add_groups(strip, {done, groups}, values_of(strip, done));
  }

  const Bf16* values_of(const Strip& strip, int64_t group) const {
    return buffers_.values + (strip.from / kTilePair + group) * buffers_.group();
  }

  // out += probabilities of the groups · values, which begin with the first group's.
  void add_groups(const Strip& strip, Range groups, const Bf16* values) const {
    if (groups.begin == groups.end) return;
    const Bf16* p = buffers_.probs + groups.begin * kTilePair;
    const TilePairs probs{p, p + kTileRows * kTileProbStride, kTileProbStride * 2, kTileDepth};
    const MutableRows out = buffers_.out.from(strip.row);
    for (int64_t c = 0; c < buffers_.width / kTilePair; ++c) {
      multiply_add(probs, by_rows(values, buffers_.width, c), groups.end - groups.begin,
                   {.first = out.data + c * kTilePair,
                    .row_bytes = out.stride * 4,
                    .down = kTileRows * out.stride,
                    .right = kTileRows});
    }
  }

  // In a group of which some queries do not see all keys, 0 · NaN would carry a NaN to them. So there values
  // that are not finite are left out of the tiles and added to the queries that see them.
  void add_odd_values(const Strip& strip, int64_t group) const {
    const Bf16* tiles = values_of(strip, group);
    for (int64_t key = 0; key < kTilePair; ++key) {
      for (int64_t c = 0; c < buffers_.width; c += kTileRows) {
        const __m512i words = _mm512_loadu_si512(tiles + c * kTilePair + key / 2 * kTileDepth);
        const __m512i bits = key % 2 == 0
                                 ? _mm512_slli_epi32(words, 16)
                                 : _mm512_and_si512(words, _mm512_set1_epi32(static_cast<int>(0xffff0000U)));
        const __m512i exponent = _mm512_set1_epi32(0x7f800000);
        const __mmask16 odd = _mm512_cmpeq_epi32_mask(_mm512_and_si512(bits, exponent), exponent);
        if (odd == 0) continue;
        for (int64_t r = 0; r < strip.rows; ++r) {
          const int64_t at = group * kTilePair + key;
          if (strip.seen(r) <= at) continue;
          float* out = buffers_.out.at(strip.row + r) + c;
          const uint32_t bf16 = buffers_.probs[r * kTileProbStride + at].bits;
          const __m512 p = _mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int>(bf16 << 16)));
          const __m512 sum = _mm512_fmadd_ps(p, _mm512_castsi512_ps(bits), _mm512_loadu_ps(out));
          _mm512_mask_storeu_ps(out, odd, sum);
        }
      }
    }
  }

  const AttentionForward<float>& args_;
  const HeadOutput& output_;
  const HeadPair& at_;
  const Buffers& buffers_;
};

}  // namespace

void attention_forward(const AttentionForward<float>& args, int64_t unit, float* workspace) {
  const int64_t parts = args.shape.heads / args.heads_per_unit;
  const int64_t sequence = unit / parts;
  const int64_t head = unit % parts * args.heads_per_unit;
  const HeadPair at = head_pair(args.shape, sequence, head);
  if (at.length < kFewQueries) return simd_avx512::attention_forward(args, unit, workspace);
  const Buffers buffers = take_buffers(workspace, args.shape);
  pack_keys_and_values(args, at, buffers);
  amx::begin_tiles();
  for (int64_t h = head; h < head + args.heads_per_unit; ++h) {
    const HeadOutput output(args, sequence, h);
    TileHead(args, output, buffers).run();
  }
  amx::end_tiles();
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
