// Shapes: T tokens that are fed, D hidden, V vocabulary, R rows of a block.
#include "sluice/ablate/readout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "sluice/nn/tap_points.h"

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

// Σ p · (a - b), with sums of their own for each of a few lanes: one sum would wait for itself at every step.
double weighted_difference(std::span<const float> p, std::span<const float> a, std::span<const float> b) {
  constexpr size_t kLanes = 16;
  std::array<double, kLanes> sums = {};
  size_t i = 0;
  for (; i + kLanes <= p.size(); i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane)
      sums[lane] += static_cast<double>(p[i + lane]) * (static_cast<double>(a[i + lane]) - b[i + lane]);
  for (; i < p.size(); ++i) sums[0] += static_cast<double>(p[i]) * (static_cast<double>(a[i]) - b[i]);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
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

class Readout {
 public:
  Readout(const Context& context, const ReadoutRequest& request)
      : context_(context.with_probe(nullptr)), request_(request) {}

  void run() {
    const auto tokens = std::ssize(request_.chunk.ids) - 1;
    for (ReadRun& run : request_.runs)
      if (run.probe != nullptr) changed_logits_.push_back(all_logits(run));
    // The same blocks as in an evaluation: how a product is computed may depend on its rows.
    for (int64_t first = tokens - request_.chunk.predicted; first < tokens; first += kLogitRows)
      read_block({first, std::min(tokens, first + kLogitRows)});
  }

 private:
  Tensor all_logits(const ReadRun& run) const {
    return request_.decoder.logits(context_.with_probe(run.probe), Var(run.hidden)).value();
  }

  Tensor logits_of(const ReadRun& run, Range rows, size_t& changed) const {
    if (run.probe != nullptr) return changed_logits_[changed++].rows_between(rows.begin, rows.end);
    return request_.decoder.logits(context_, Var(run.hidden.rows_between(rows.begin, rows.end))).value();
  }

  void read_block(Range rows) const {
    const RowBlock block{rows,
                         std::span(request_.chunk.ids)
                             .subspan(static_cast<size_t>(rows.begin + 1), static_cast<size_t>(rows.size()))};
    size_t changed = 0;
    BlockPrediction unbroken = predicted(context_, logits_of(request_.base, rows, changed), block);
    add_nll(unbroken, request_.base.measures);
    BaseRows base;
    if (request_.divergence == Divergence::Measured) base = base_rows(context_, std::move(unbroken));
    for (ReadRun& run : request_.runs) {
      const BlockPrediction prediction = predicted(context_, logits_of(run, rows, changed), block);
      add_nll(prediction, run.measures);
      if (request_.divergence == Divergence::Measured)
        add_divergence(context_, base, prediction, run.measures);
    }
  }

  // One token after the other, as an evaluation does it.
  static void add_nll(const BlockPrediction& prediction, RunMeasures& measures) {
    measures.nll.sum = std::accumulate(prediction.losses.begin(), prediction.losses.end(), measures.nll.sum);
    measures.nll.tokens += std::ssize(prediction.losses);
  }

  Context context_;
  const ReadoutRequest& request_;
  std::vector<Tensor> changed_logits_;  // of the runs with a probe, in their order
};

}  // namespace

void read_out(const Context& context, const ReadoutRequest& request) {
  Readout(context, request).run();
}

}  // namespace sluice
