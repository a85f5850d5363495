#include "sluice/bench/rank_cost.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "sluice/base/error.h"
#include "sluice/base/file_system.h"
#include "sluice/base/median.h"
#include "sluice/base/stopwatch.h"
#include "sluice/bench/figures.h"
#include "sluice/bench/scale_batches.h"

namespace sluice::bench {
namespace {

std::string own_host() {
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, HOST_NAME_MAX);
  return host;
}

void check_comparable(Ranks& ranks, const RankCostRequest& request) {
  const int64_t sequences = request.config.batch_tokens / request.config.sequence;
  if (ranks.size() < 2)
    throw usage_error({.where = "bench ranks",
                       .what = "there is one rank, and nothing to compare",
                       .hint = "mpirun -n 2 --bind-to core sluice bench ranks --threads 1"});
  if (ranks.size() > sequences)
    throw usage_error({.where = fmt::format("{} ranks", ranks.size()),
                       .what = fmt::format("a step has {} sequences", sequences),
                       .hint = "--set batch_tokens=N gives it more"});
  const std::vector<std::string> hosts = all_gather(ranks, own_host());
  if (std::set<std::string>(hosts.begin(), hosts.end()).size() > 1)
    throw usage_error({.where = "bench ranks", .what = "the ranks are on several machines"});
}

cpu_set_t own_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) != 0)
    throw system_failure("bench ranks", "cannot see its cores", last_system_error());
  return cores;
}

// Launchers bind each rank to its own: one process has to have those of all.
cpu_set_t cores_of_all(Ranks& ranks) {
  const cpu_set_t own = own_cores();
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const std::string& bytes :
       all_gather(ranks, std::string(reinterpret_cast<const char*>(&own), sizeof own))) {
    cpu_set_t other;
    std::memcpy(&other, bytes.data(), sizeof other);
    CPU_OR(&all, &all, &other);
  }
  return all;
}

// The calling thread, and those that it starts meanwhile, on other cores for as long as this lives.
class OnCores {
 public:
  explicit OnCores(const cpu_set_t& cores) : before_(own_cores()) {
    if (sched_setaffinity(0, sizeof cores, &cores) != 0)
      throw system_failure("bench ranks", "cannot use the cores of all ranks", last_system_error());
  }
  OnCores(const OnCores&) = delete;
  OnCores& operator=(const OnCores&) = delete;
  ~OnCores() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_;
};

// Waits for all, and leaves the cores alone meanwhile: asking as often as training does would take a few per
// cent of what the one process is given.
void rest_until_all_are_here(Ranks& ranks) {
  const auto size = static_cast<size_t>(ranks.size());
  const std::byte out{};
  std::vector<std::byte> in(size);
  Ranks::Outgoing outgoing(size, std::span(&out, 1));
  Ranks::Incoming incoming;
  for (std::byte& byte : in) incoming.emplace_back(&byte, 1);
  const std::unique_ptr<Ranks::Transfer> transfer = ranks.begin(outgoing, incoming);
  while (!transfer->is_over()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

// A trainer with a batch, whose steps can be timed.
class TimedTrainer {
 public:
  TimedTrainer(Engine& engine, Ranks& ranks, const RankCostRequest& request, ReduceOrder order)
      : decoder_(request.config.model),
        trainer_(engine, initialised(engine, request.config), request.config.trainer,
                 {.ranks = ranks, .order = order}) {
    const RunConfig& config = request.config;
    batches_ = own_batches(config,
                           {.weak = false,
                            .order = order,
                            .sequences = config.batch_tokens / config.sequence,
                            .passes = ranks.size()},
                           ranks, own_);
    own_.batches = batches_;
  }

  void step() {
    const double waited = trainer_.ranks().traffic().waited;
    const Stopwatch watch;
    trainer_.step(own_);
    seconds_.push_back(watch.seconds());
    waited_.push_back(trainer_.ranks().traffic().waited - waited);
  }

  // Without the first, which fills the pool.
  RankCost::Steps steps() const {
    return {.seconds = median({seconds_.begin() + 1, seconds_.end()}),
            .waited = median({waited_.begin() + 1, waited_.end()})};
  }

 private:
  Decoder& initialised(Engine& engine, const RunConfig& config) {
    decoder_.initialise(engine, Random(config.seed), config.init);
    return decoder_;
  }

  Decoder decoder_;
  Trainer trainer_;
  OwnPasses own_;
  std::vector<Batch> batches_;
  std::vector<double> seconds_, waited_;
};

}  // namespace

RankCost measure_rank_cost(Engine& engine, Ranks& ranks, const RankCostRequest& request,
                           const JobControl& control) {
  check_comparable(ranks, request);
  const cpu_set_t all_cores = cores_of_all(ranks);
  const int threads = engine.threads().count();
  std::unique_ptr<Engine> wide;
  std::unique_ptr<TimedTrainer> one;
  if (ranks.is_first()) {
    const OnCores everywhere(all_cores);
    wide = std::make_unique<Engine>(
        EngineOptions{.threads = threads * ranks.size(),
                      .isa = {.name = std::string(name_of(engine.isa().isa)), .source = "bench"}});
    one = std::make_unique<TimedTrainer>(*wide, alone(), request, ReduceOrder::Fast);
  }
  TimedTrainer fast(engine, ranks, request, ReduceOrder::Fast);
  TimedTrainer exact(engine, ranks, request, ReduceOrder::Exact);
  const std::function<void()> kinds[] = {[&] {
                                           const OnCores everywhere(all_cores);
                                           if (one) one->step();
                                         },
                                         [&] { fast.step(); }, [&] { exact.step(); }};
  for (int turn = 0; turn <= request.repetitions; ++turn) {
    if (agree_on_largest(ranks, control.is_cancelled() ? 1 : 0) != 0)
      throw Error(ErrorKind::Interrupted, {.what = "interrupted"});
    control.report("turns", turn, request.repetitions + 1);
    // Each kind is first in turn: what comes after a rest may be slower.
    for (size_t i = 0; i < std::size(kinds); ++i) {
      rest_until_all_are_here(ranks);
      kinds[(static_cast<size_t>(turn) + i) % std::size(kinds)]();
    }
  }
  RankCost cost{.ranks = ranks.size(),
                .threads = threads,
                .tokens = request.config.batch_tokens,
                .repetitions = request.repetitions,
                .fast = fast.steps(),
                .exact = exact.steps()};
  if (one) cost.one_process = one->steps();
  return cost;
}

nlohmann::ordered_json to_json(const RankCost& cost) {
  return {{"what", "ranks"},
          {"ranks", cost.ranks},
          {"threads", cost.threads},
          {"tokens", cost.tokens},
          {"repetitions", cost.repetitions},
          {"one_process_seconds", rounded(cost.one_process.seconds)},
          {"fast_seconds", rounded(cost.fast.seconds)},
          {"exact_seconds", rounded(cost.exact.seconds)},
          {"fast_waited_seconds", rounded(cost.fast.waited)},
          {"exact_waited_seconds", rounded(cost.exact.waited)},
          {"fast_ratio", rounded(cost.fast.seconds / cost.one_process.seconds)},
          {"exact_ratio", rounded(cost.exact.seconds / cost.one_process.seconds)}};
}

std::string to_text(const RankCost& cost) {
  const auto row = [&](const std::string& name, const RankCost::Steps& steps) {
    return fmt::format("{:<24}{:>10.3f}{:>12.0f}{:>10.3f}{:>+9.1f} %\n", name, steps.seconds,
                       static_cast<double>(cost.tokens) / steps.seconds, steps.waited,
                       (steps.seconds / cost.one_process.seconds - 1) * 100);
  };
  const std::string ranks = fmt::format("{} ranks x {}", cost.ranks, cost.threads);
  return fmt::format("{:<24}{:>10}{:>12}{:>10}{:>11}\n", "processes x threads", "s a step", "tokens/s",
                     "waited", "longer") +
         row(fmt::format("1 process x {}", cost.ranks * cost.threads), cost.one_process) +
         row(ranks + ", fast", cost.fast) + row(ranks + ", exact", cost.exact);
}

}  // namespace sluice::bench
