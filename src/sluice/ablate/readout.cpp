// Shapes: T tokens that are fed, D hidden, V vocabulary, R rows of a block.
#include "sluice/ablate/readout.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "sluice/analysis/weighted_difference.h"
#include "sluice/ops/weight_product.h"

namespace sluice {
namespace {

// A range of the tokens that a chunk feeds, and what comes behind each.
struct RowBlock {
  Range rows;
  std::span<const TokenId> targets;
};

// What a model says of the rows of a block.
struct BlockPrediction {
  Tensor logits;  // [R, V]
  std::vector<float> losses, log_sums;
};

BlockPrediction predicted(const Context& context, const Tensor& logits, const RowBlock& block) {
  BlockPrediction result{.logits = logits,
                         .losses = std::vector<float>(block.targets.size()),
                         .log_sums = std::vector<float>(block.targets.size())};
  const CrossEntropyForward<float> args{.logits = logits.data<float>(),
                                        .targets = block.targets.data(),
                                        .vocabulary = logits.cols(),
                                        .loss = result.losses.data(),
                                        .log_sum_exp = result.log_sums.data()};
  context.run(context.kernels<float>().cross_entropy_forward, args, std::ssize(block.targets),
              args.vocabulary);
  return result;
}

// Of a block, in the unbroken model.
struct BaseRows {
  BlockPrediction prediction;
  Tensor probabilities;            // [R, V]
  std::vector<int64_t> likeliest;  // [R]
};

int64_t likeliest_of(std::span<const float> row) {
  return std::ranges::max_element(row) - row.begin();
}

std::span<const float> row_of(const Tensor& tensor, int64_t row) {
  const auto width = static_cast<size_t>(tensor.cols());
  return tensor.values<float>().subspan(static_cast<size_t>(row) * width, width);
}

BaseRows base_rows(const Context& context, BlockPrediction prediction) {
  BaseRows base{.prediction = std::move(prediction), .probabilities = {}, .likeliest = {}};
  const Tensor& logits = base.prediction.logits;
  base.probabilities = context.empty(logits.shape(), DType::F32);
  base.likeliest.resize(static_cast<size_t>(logits.rows()));
  context.threads().split(logits.rows(), 1, [&](Range rows) {
    for (int64_t r = rows.begin; r < rows.end; ++r) {
      const std::span<const float> row = row_of(logits, r);
      float* out = base.probabilities.data<float>() + r * logits.cols();
      const float log_sum = base.prediction.log_sums[static_cast<size_t>(r)];
      for (size_t i = 0; i < row.size(); ++i) out[i] = std::exp(row[i] - log_sum);
      base.likeliest[static_cast<size_t>(r)] = likeliest_of(row);
    }
  });
  return base;
}

void add_divergence(const Context& context, const BaseRows& base, const BlockPrediction& run,
                    RunMeasures& measures) {
  const int64_t rows = run.logits.rows();
  std::vector<double> kl(static_cast<size_t>(rows));
  std::vector<int64_t> likeliest(kl.size());
  context.threads().split(rows, 1, [&](Range range) {
    for (int64_t r = range.begin; r < range.end; ++r) {
      const auto i = static_cast<size_t>(r);
      const std::span<const float> row = row_of(run.logits, r);
      const double difference =
          weighted_difference(row_of(base.probabilities, r), row_of(base.prediction.logits, r), row);
      // Never below 0 but by rounding.
      kl[i] = std::max(0.0, difference + static_cast<double>(run.log_sums[i]) - base.prediction.log_sums[i]);
      likeliest[i] = likeliest_of(row);
    }
  });
  measures.kl = std::accumulate(kl.begin(), kl.end(), measures.kl);
  for (size_t i = 0; i < kl.size(); ++i) measures.changed_top1 += likeliest[i] != base.likeliest[i] ? 1 : 0;
}

// Rows of logits that are computed at once, of several runs if their bits do not depend on it: from so many
// on reading the weights takes no time beside the product.
constexpr int64_t kProductRows = 256;

class Readout {
 public:
  Readout(const Context& context, const ReadoutRequest& request)
      : context_(context.with_probe(nullptr)), request_(request) {}

  void run() {
    const auto tokens = std::ssize(request_.chunk.ids) - 1;
    for (size_t i = 0; i < request_.runs.size(); ++i) {
      const ReadRun& run = request_.runs[i];
      if (run.probe == nullptr) continue;
      changed_logits_[i] = request_.decoder.logits(context_.with_probe(run.probe), Var(run.hidden)).value();
    }
    // The same blocks as in an evaluation: how a product is computed may depend on its rows.
    for (int64_t first = tokens - request_.chunk.predicted; first < tokens; first += kLogitRows)
      read_block({first, std::min(tokens, first + kLogitRows)});
  }

 private:
  bool needs_base() const { return request_.base_nll || request_.divergence == UnbrokenComparison::Measured; }

  void read_block(Range rows) const {
    const RowBlock block{rows,
                         std::span(request_.chunk.ids)
                             .subspan(static_cast<size_t>(rows.begin + 1), static_cast<size_t>(rows.size()))};
    BaseRows base;
    if (needs_base()) base = read_base(block);
    const size_t together = runs_together(rows.size());
    std::vector<size_t> batch;
    for (size_t i = 0; i < request_.runs.size(); ++i) {
      if (const auto changed = changed_logits_.find(i); changed != changed_logits_.end()) {
        add(changed->second.rows_between(rows.begin, rows.end), block, base, request_.runs[i]);
      } else {
        batch.push_back(i);
      }
      if (batch.size() < together && i + 1 < request_.runs.size()) continue;
      read_batch(batch, block, base);
      batch.clear();
    }
  }

  BaseRows read_base(const RowBlock& block) const {
    const Tensor hidden = request_.base.hidden.rows_between(block.rows.begin, block.rows.end);
    BlockPrediction prediction =
        predicted(context_, request_.decoder.logits(context_, Var(hidden)).value(), block);
    if (request_.base_nll) add_nll(prediction, request_.base.measures);
    if (request_.divergence == UnbrokenComparison::Left) return {};
    return base_rows(context_, std::move(prediction));
  }

  size_t runs_together(int64_t rows) const {
    const Weight weight = weight_of(context_, request_.decoder.output_weight());
    if (!rows_are_independent(product_path(context_, weight, rows))) return 1;
    return static_cast<size_t>(std::max<int64_t>(1, kProductRows / rows));
  }

  void read_batch(const std::vector<size_t>& batch, const RowBlock& block, const BaseRows& base) const {
    if (batch.empty()) return;
    const int64_t rows = block.rows.size(), width = request_.base.hidden.cols();
    const Tensor hidden = context_.empty({std::ssize(batch) * rows, width}, DType::F32);
    for (size_t i = 0; i < batch.size(); ++i) {
      const Tensor part = request_.runs[batch[i]].hidden.rows_between(block.rows.begin, block.rows.end);
      std::ranges::copy(part.values<float>(), hidden.data<float>() + static_cast<int64_t>(i) * rows * width);
    }
    const Tensor logits = request_.decoder.logits(context_, Var(hidden)).value();
    for (size_t i = 0; i < batch.size(); ++i) {
      const auto row = static_cast<int64_t>(i) * rows;
      add(logits.rows_between(row, row + rows), block, base, request_.runs[batch[i]]);
    }
  }

  void add(const Tensor& logits, const RowBlock& block, const BaseRows& base, ReadRun& run) const {
    const BlockPrediction prediction = predicted(context_, logits, block);
    add_nll(prediction, run.measures);
    if (request_.divergence == UnbrokenComparison::Measured)
      add_divergence(context_, base, prediction, run.measures);
  }

  // One token after the other, as an evaluation does it.
  static void add_nll(const BlockPrediction& prediction, RunMeasures& measures) {
    measures.nll.sum = std::accumulate(prediction.losses.begin(), prediction.losses.end(), measures.nll.sum);
    measures.nll.tokens += std::ssize(prediction.losses);
  }

  Context context_;
  const ReadoutRequest& request_;
  std::map<size_t, Tensor> changed_logits_;  // [T, V], of the runs with a probe
};

}  // namespace

void read_out(const Context& context, const ReadoutRequest& request) {
  Readout(context, request).run();
}

}  // namespace sluice
