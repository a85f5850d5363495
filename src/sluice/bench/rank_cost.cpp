#include "sluice/bench/rank_cost.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

#include "sluice/base/error.h"
#include "sluice/base/file_system.h"
#include "sluice/base/median.h"
#include "sluice/base/stopwatch.h"
#include "sluice/base/system.h"
#include "sluice/bench/figures.h"
#include "sluice/bench/scale_batches.h"

namespace sluice::bench {
namespace {

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
  const std::vector<std::string> hosts = all_gather(ranks, host_name());
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

// Seconds in which these cores were not idle, whoever had them. "cpu3 user nice system idle iowait irq
// softirq steal ..." is what the system counts, in ticks.
double busy_seconds(const cpu_set_t& cores) {
  std::ifstream file("/proc/stat");
  double ticks = 0;
  for (std::string text; std::getline(file, text);) {
    int core = 0, read = 0;
    if (std::sscanf(text.c_str(), "cpu%d%n", &core, &read) != 1 || !CPU_ISSET(core, &cores)) continue;
    std::istringstream columns(text.substr(static_cast<size_t>(read)));
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, soft_irq = 0, stolen = 0;
    columns >> user >> nice >> system >> idle >> waiting >> irq >> soft_irq >> stolen;
    ticks += user + nice + system + irq + soft_irq + stolen;
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double own_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// What others have of these cores, from when this is made.
class OtherPrograms {
 public:
  OtherPrograms(Ranks& ranks, const cpu_set_t& cores)
      : ranks_(ranks), cores_(cores), busy_(busy_seconds(cores)), own_(own_seconds()) {}

  // Every rank has to ask.
  double share() {
    const double own[] = {own_seconds() - own_};
    const std::vector<double> all = all_gather(ranks_, own);
    const double others = busy_seconds(cores_) - busy_ - std::reduce(all.begin(), all.end());
    return std::clamp(others / (watch_.seconds() * CPU_COUNT(&cores_)), 0.0, 1.0);
  }

 private:
  Ranks& ranks_;
  cpu_set_t cores_;
  double busy_, own_;
  Stopwatch watch_;
};

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

  // Turn by turn: a machine that is slower for a while is so for all kinds.
  RankCost::Steps steps_beside(const TimedTrainer& other) const {
    std::vector<double> ratios;
    for (size_t turn = 1; turn < seconds_.size(); ++turn)
      ratios.push_back(seconds_[turn] / other.seconds_[turn]);
    std::ranges::sort(ratios);
    RankCost::Steps result = steps();
    result.ratio = median(ratios);
    result.lower = ratios[(ratios.size() - 1) / 4];
    result.upper = ratios[(ratios.size() * 3) / 4];
    return result;
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
  // Each kind comes equally often at each place, and after each other one: what comes after a rest, or after
  // one process on all cores, may be slower.
  constexpr size_t kTurns[][std::size(kinds)] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0},
                                                 {0, 2, 1}, {2, 0, 1}, {1, 0, 2}};
  std::optional<OtherPrograms> others;
  for (int turn = 0; turn <= request.repetitions; ++turn) {
    if (turn == 1) others.emplace(ranks, all_cores);
    if (agree_on_largest(ranks, control.is_cancelled() ? 1 : 0) != 0)
      throw Error(ErrorKind::Interrupted, {.what = "interrupted"});
    control.report("turns", turn, request.repetitions + 1);
    for (const size_t kind : kTurns[static_cast<size_t>(turn) % std::size(kTurns)]) {
      rest_until_all_are_here(ranks);
      kinds[kind]();
    }
  }
  RankCost cost{.ranks = ranks.size(),
                .threads = threads,
                .tokens = request.config.batch_tokens,
                .repetitions = request.repetitions,
                .others = others->share()};
  if (one) {
    cost.one_process = one->steps();
    cost.fast = fast.steps_beside(*one);
    cost.exact = exact.steps_beside(*one);
  }
  return cost;
}

nlohmann::ordered_json to_json(const RankCost& cost) {
  nlohmann::ordered_json json = {{"what", "ranks"},
                                 {"ranks", cost.ranks},
                                 {"threads", cost.threads},
                                 {"tokens", cost.tokens},
                                 {"repetitions", cost.repetitions},
                                 {"one_process_seconds", rounded(cost.one_process.seconds)}};
  const auto add = [&](const std::string& name, const RankCost::Steps& steps) {
    json[name + "_seconds"] = rounded(steps.seconds);
    json[name + "_waited_seconds"] = rounded(steps.waited);
    json[name + "_ratio"] = rounded(steps.ratio);
    json[name + "_ratio_middle_half"] = {rounded(steps.lower), rounded(steps.upper)};
  };
  add("fast", cost.fast);
  add("exact", cost.exact);
  json["others_share"] = rounded(cost.others);
  return json;
}

std::string to_text(const RankCost& cost) {
  const auto row = [&](const std::string& name, const RankCost::Steps& steps) {
    return fmt::format("{:<24}{:>10.3f}{:>12.0f}{:>10.3f}", name, steps.seconds,
                       static_cast<double>(cost.tokens) / steps.seconds, steps.waited);
  };
  const auto row_beside = [&](const std::string& name, const RankCost::Steps& steps) {
    const auto percent = [](double ratio) { return (ratio - 1) * 100; };
    return row(name, steps) + fmt::format("{:>+9.1f} %{:>+8.1f} to {:+.1f} %\n", percent(steps.ratio),
                                          percent(steps.lower), percent(steps.upper));
  };
  const std::string ranks = fmt::format("{} ranks x {}", cost.ranks, cost.threads);
  return fmt::format("{:<24}{:>10}{:>12}{:>10}{:>11}{:>18}\n", "processes x threads", "s a step", "tokens/s",
                     "waited", "longer", "middle half") +
         row(fmt::format("1 process x {}", cost.ranks * cost.threads), cost.one_process) + "\n" +
         row_beside(ranks + ", fast", cost.fast) + row_beside(ranks + ", exact", cost.exact) +
         fmt::format("other programs had {:.0f} % of these cores meanwhile\n", cost.others * 100);
}

}  // namespace sluice::bench
