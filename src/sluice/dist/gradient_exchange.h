// Gradients of all ranks become sums, each at the rank that owns the part (dist/shard_layout.h), which
// updates its weights with them (dist/value_exchange.h). The sums are made in the order of
// dist/pairwise_sum.h, bucket by bucket.
#pragma once

#include <deque>
#include <optional>
#include <string_view>

#include "sluice/dist/pairwise_sum.h"
#include "sluice/dist/ranks.h"
#include "sluice/dist/shard_layout.h"

namespace sluice {

// How gradients are added up.
enum class ReduceOrder {
  Exact,    // pass by pass in a fixed tree: the same bits for any number of ranks
  Fast,     // each rank adds up its own, and buckets are exchanged while backward still runs
  FastBf16  // the same, rounded to bf16 on the way; sums are f32
};

// "exact", "fast", "fast-bf16".
std::string_view name_of(ReduceOrder order);

// Gradients by parameter; undefined where there is none.
using GradientSet = std::vector<Tensor>;

struct AddGradients {
  Context context;
  GradientSet operator()(GradientSet left, GradientSet right) const;
};

// Those of a rank's own passes.
using PassGradients = PairwiseSum<GradientSet, AddGradients>;
PassGradients pass_gradients(const Context& context, int64_t passes);

// Takes the gradients out of the parameters.
GradientSet take_gradients(const std::vector<NamedParameter>& parameters);

class GradientExchange {
 public:
  // `owners` as ShardLayout has them: gradients of what is one rank's alone are not exchanged.
  GradientExchange(Ranks& ranks, const std::vector<NamedParameter>& parameters,
                   const std::vector<int>& owners = {});

  const ShardLayout& layout() const { return layout_; }

  // Which passes of a step whose gradients are added exactly belong to whom.
  Range passes_of(int rank, int64_t passes) const { return share_of(passes, rank, ranks_.size()); }

  // Afterwards the gradients of own pieces are the sums over all passes; what else is in `grad` means
  // nothing.
  void sum_exactly(const Context& context, PassGradients own, int64_t passes);

  // The same of what is in the parameters on every rank, rounded to `payload` on the way. begin_sum() may be
  // called before backward: then note_done() says of which parameter the gradient is complete. finish_sum()
  // waits for the rest.
  void begin_sum(const Context& context, DType payload);
  void note_done(const Parameter& parameter);
  void finish_sum();

  // Of all gradients, from those of own pieces; the same bits on every rank.
  double norm(const Context& context, const AdamW& optimizer);

 private:
  // A bucket under way.
  struct Bundle {
    size_t bucket = 0;
    Tensor out, in;               // messages to all, and from all but this rank, one after the other
    std::vector<int64_t> begins;  // of the messages in `in`, by rank
    std::unique_ptr<Ranks::Transfer> transfer;
  };

  Bundle begin_bucket(const Context& context, size_t bucket) const;
  void finish_bucket(const Context& context, Bundle& bundle) const;
  void begin_ready_buckets();
  void finish_over_buckets();

  Ranks& ranks_;
  std::vector<NamedParameter> parameters_;
  ShardLayout layout_;

  // What is being summed.
  std::vector<std::vector<PassNode>> nodes_;  // by rank
  int64_t leaves_ = 0;
  std::vector<PassGradients::Term> own_;
  DType payload_ = DType::F32;
  std::optional<Context> context_;
  std::vector<size_t> missing_;  // by bucket: parameters whose gradient is not complete
  std::vector<bool> done_;       // by parameter
  size_t begun_ = 0;             // buckets
  std::deque<Bundle> under_way_;
};

}  // namespace sluice
