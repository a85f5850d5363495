#include "sluice/bench/scale.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/median.h"
#include "sluice/base/stopwatch.h"
#include "sluice/bench/scale_batches.h"
#include "sluice/train/trainer.h"

namespace sluice::bench {
namespace {

constexpr ReduceOrder kScaleOrders[] = {ReduceOrder::Exact, ReduceOrder::Fast, ReduceOrder::FastBf16};

struct ScaleSteps {
  double seconds, compute, update;
  Volume sent;
  double waited;
};

ScaleSteps take_steps(Engine& engine, Ranks& ranks, const ScaleRequest& request,
                      const ScaleSetting& setting) {
  Decoder decoder(request.config.model);
  decoder.initialise(engine, Random(request.config.seed), request.config.init);
  Trainer trainer(engine, decoder, request.config.trainer, {.ranks = ranks, .order = setting.order});
  OwnPasses own;
  const std::vector<Batch> batches = own_batches(request.config, setting, ranks, own);
  own.batches = batches;
  std::vector<double> seconds, compute, update, waited;
  Volume sent;
  for (int repetition = 0; repetition <= request.repetitions; ++repetition) {
    agree_on_largest(ranks, 0);  // all begin together
    const Traffic before = ranks.traffic();
    const Stopwatch watch;
    const StepResult result = trainer.step(own);
    if (repetition == 0) continue;  // fills the pool
    seconds.push_back(watch.seconds());
    compute.push_back(result.rank_seconds[static_cast<size_t>(ranks.rank())]);
    update.push_back(result.seconds.update);
    waited.push_back(ranks.traffic().waited - before.waited);
    sent = {static_cast<double>(ranks.traffic().bytes - before.bytes),
            static_cast<double>(ranks.traffic().messages - before.messages)};
  }
  return {median(seconds), median(compute), median(update), sent, median(waited)};
}

// Messages of several sizes between all ranks at once, as in a step.
Link measure_link(Ranks& ranks) {
  std::vector<LinkSample> samples;
  for (const size_t size : {size_t{64}, size_t{1} << 12, size_t{1} << 16, size_t{1} << 20, size_t{1} << 23}) {
    const auto count = static_cast<size_t>(ranks.size());
    const std::vector<std::byte> out(size);
    std::vector<std::vector<std::byte>> in(count, std::vector<std::byte>(size));
    Ranks::Outgoing outgoing(count, out);
    Ranks::Incoming incoming(in.begin(), in.end());
    outgoing[static_cast<size_t>(ranks.rank())] = {};
    incoming[static_cast<size_t>(ranks.rank())] = {};
    std::vector<double> seconds;
    for (int repetition = 0; repetition < 12; ++repetition)
      seconds.push_back(seconds_of([&] { ranks.exchange(outgoing, incoming); }));
    // A message of each to each other: their times add up.
    samples.push_back({static_cast<double>(size), median(seconds) / static_cast<double>(count - 1)});
  }
  return fit_link(samples);
}

std::vector<int> group_sizes(int ranks) {
  std::vector<int> sizes;
  for (int count = 1; count < ranks; count *= 2) sizes.push_back(count);
  sizes.push_back(ranks);
  return sizes;
}

class ScaleMeasurement {
 public:
  ScaleMeasurement(Engine& engine, Ranks& ranks, const ScaleRequest& request, const JobControl& control)
      : engine_(engine), ranks_(ranks), request_(request), control_(control) {}

  ScaleResult run() {
    result_.network = request_.network;
    result_.batch_tokens = request_.config.batch_tokens;
    if (ranks_.size() > 1) result_.link = measure_link(ranks_);
    const std::vector<int> sizes = group_sizes(ranks_.size());
    for (const int count : sizes) {
      const std::unique_ptr<Ranks> group = ranks_.first(count);
      if (group) measure(*group);
      if (agree_on_largest(ranks_, control_.is_cancelled() ? 1 : 0) != 0)
        throw Error(ErrorKind::Interrupted, {.what = "interrupted"});
      control_.report("group sizes", ++done_, std::ssize(sizes));
    }
    predict();
    return result_;
  }

 private:
  void measure(Ranks& group) {
    for (const bool weak : {false, true}) {
      for (const ReduceOrder order : kScaleOrders) {
        const int64_t batch = request_.config.batch_tokens / request_.config.sequence;
        const int64_t sequences = weak ? batch * group.size() : batch;
        const ScaleSetting setting{weak, order, sequences, weak ? group.size() : ranks_.size()};
        add_case(group, setting, take_steps(engine_, group, request_, setting));
      }
    }
  }

  void add_case(Ranks& group, const ScaleSetting& setting, const ScaleSteps& steps) {
    const bool first = group.size() == 1;
    const int64_t tokens = setting.sequences * request_.config.sequence;
    StepModel& model = models_[setting.weak ? 1 : 0];
    if (first && setting.order == ReduceOrder::Fast) learn(steps, model);
    ScaleCase entry{.weak = setting.weak,
                    .order = setting.order,
                    .ranks = group.size(),
                    .threads = engine_.threads().count(),
                    .rank_tokens = tokens / group.size(),
                    .seconds = steps.seconds,
                    .tokens_per_s = static_cast<double>(tokens) / steps.seconds,
                    .sent = steps.sent,
                    .waited = steps.waited};
    const auto alone = std::ranges::find_if(result_.cases, [&](const ScaleCase& each) {
      return each.ranks == 1 && each.weak == entry.weak && each.order == entry.order;
    });
    if (alone != result_.cases.end())
      entry.efficiency = entry.tokens_per_s / static_cast<double>(entry.ranks) / alone->tokens_per_s;
    if (!first) {
      const double sending =
          entry.sent.messages * result_.link.latency + entry.sent.bytes / result_.link.bandwidth;
      // The exact order has nothing to hide behind: it sends when all passes are over.
      if (setting.order != ReduceOrder::Exact)
        entry.hidden = std::clamp(1 - entry.waited / sending, 0.0, 1.0);
      if (setting.order == ReduceOrder::Fast) model.hidden = entry.hidden;
      entry.predicted = predict_step(model, result_.link, setting.order, entry.ranks, setting.weak);
    }
    result_.cases.push_back(entry);
  }

  void learn(const ScaleSteps& steps, StepModel& model) {
    const Decoder decoder(request_.config.model);
    for (const NamedParameter& named : decoder.parameters()) model.parameters += named.shape.count();
    model.buckets = std::ssize(ShardLayout(decoder.parameters(), 1).buckets());
    model.compute = steps.compute;
    model.update = steps.update;
    result_.parameters = model.parameters;
  }

  void predict() {
    for (const int nodes : predicted_nodes(ranks_.size())) {
      for (const ReduceOrder order : kScaleOrders) {
        const auto& [strong, weak] = models_;
        result_.predictions.push_back({.nodes = nodes,
                                       .order = order,
                                       .strong = predict_step(strong, request_.network, order, nodes, false),
                                       .weak = predict_step(weak, request_.network, order, nodes, true),
                                       .sent = volume_of(strong, order, nodes),
                                       .state_bytes = state_bytes(strong, nodes)});
      }
    }
  }

  Engine& engine_;
  Ranks& ranks_;
  const ScaleRequest& request_;
  const JobControl& control_;
  StepModel models_[2];  // of strong and of weak steps: one rank has the same batch, others hide other shares
  ScaleResult result_;
  int64_t done_ = 0;
};

}  // namespace

ScaleResult measure_scale(Engine& engine, Ranks& ranks, const ScaleRequest& request,
                          const JobControl& control) {
  const int64_t sequences = request.config.batch_tokens / request.config.sequence;
  if (ranks.size() > sequences) {
    throw usage_error({.where = fmt::format("{} ranks", ranks.size()),
                       .what = fmt::format("a step has {} sequences", sequences),
                       .hint = "--set batch_tokens=N gives it more"});
  }
  return ScaleMeasurement(engine, ranks, request, control).run();
}

}  // namespace sluice::bench
