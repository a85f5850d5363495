#include "sluice/bench/neighbour.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

#include "sluice/base/error.h"
#include "sluice/base/median.h"
#include "sluice/base/stopwatch.h"
#include "sluice/data/random_batch.h"
#include "sluice/model/count.h"

namespace sluice::bench {
namespace {

constexpr const char* kSmallSteps = R"({
  "model": "tiny-elementwise", "sequence": 128, "batch_tokens": 2048, "steps": 300, "dtype": "bf16"
})";

// Many time slices of the system, so that it does not matter where in one a measurement begins.
constexpr double kSeconds = 1;

// Keeps one core busy for as long as the object lives.
class BusyProcess {
 public:
  BusyProcess() : child_(start()) {}
  BusyProcess(const BusyProcess&) = delete;
  BusyProcess& operator=(const BusyProcess&) = delete;
  ~BusyProcess() {
    kill(child_, SIGKILL);
    while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

 private:
  static pid_t start() {
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) throw failure({.what = "cannot start a busy process", .got = std::strerror(errno)});
    if (child == 0) be_busy(parent);
    return child;
  }

  // Calls nothing that a child of a process with threads may not call.
  [[noreturn]] static void be_busy(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);  // the parent died before it could be asked for
    // A session of its own: Linux may share cores fairly between sessions before it does between threads, and
    // a neighbour is usually somebody else's.
    setsid();
    for (volatile unsigned work = 0; true;) work = work + 1;
  }

  pid_t child_;
};

class SmallTraining {
 public:
  SmallTraining(Engine& engine, const RunConfig& config)
      : decoder_(config.model),
        trainer_(engine, initialised(engine, config), config.trainer),
        tokens_(config.batch_tokens) {
    for (int64_t done = 0; done < config.batch_tokens; done += config.pass_tokens) {
      batches_.push_back(random_batch({.sequences = config.pass_tokens / config.sequence,
                                       .length = config.sequence,
                                       .vocabulary = config.model.vocabulary,
                                       .seed = static_cast<uint64_t>(done)}));
    }
  }

  // Whole steps for at least `least` seconds; tokens per second.
  double rate(double least, const JobControl& control) {
    const Stopwatch watch;
    int64_t steps = 0;
    do {
      control.stop_if_cancelled();
      trainer_.step(batches_);
      ++steps;
    } while (watch.seconds() < least);
    return static_cast<double>(steps * tokens_) / watch.seconds();
  }

 private:
  Decoder& initialised(Engine& engine, const RunConfig& config) {
    decoder_.initialise(engine, Random(config.seed), config.init);
    return decoder_;
  }

  Decoder decoder_;
  Trainer trainer_;
  std::vector<Batch> batches_;
  int64_t tokens_;
};

}  // namespace

RunConfig neighbour_config(const std::vector<std::string>& changes) {
  return read_run_config(Json::parse(kSmallSteps, "the steps of bench neighbour"), changes);
}

NeighbourCost measure_neighbour(Engine& engine, const NeighbourRequest& request, const JobControl& control) {
  SmallTraining training(engine, request.config);
  training.rate(0, control);  // brings the pool to its size and starts the threads
  std::vector<double> alone, beside, slowdowns;
  for (int i = 0; i < request.repetitions; ++i) {
    alone.push_back(training.rate(kSeconds, control));
    const BusyProcess neighbour;
    beside.push_back(training.rate(kSeconds, control));
    slowdowns.push_back(alone.back() / beside.back());
    control.report("repetitions", i + 1, request.repetitions);
  }
  return {.threads = engine.threads().count(),
          .parameters = count_parameters(request.config.model).total(),
          .tokens = request.config.batch_tokens,
          .repetitions = request.repetitions,
          .alone = median(alone),
          .beside = median(beside),
          .slowdown = median(slowdowns)};
}

nlohmann::ordered_json to_json(const NeighbourCost& cost) {
  return {{"what", "neighbour"},
          {"threads", cost.threads},
          {"parameters", cost.parameters},
          {"tokens", cost.tokens},
          {"repetitions", cost.repetitions},
          {"alone_tokens_per_s", cost.alone},
          {"beside_tokens_per_s", cost.beside},
          {"slowdown", cost.slowdown}};
}

std::string to_text(const NeighbourCost& cost) {
  return fmt::format("{:<16}{:.0f} tokens/s ({} tokens a step, {} parameters, {} threads, median of {})\n",
                     "alone", cost.alone, cost.tokens, cost.parameters, cost.threads, cost.repetitions) +
         fmt::format("{:<16}{:.0f} tokens/s beside one busy process\n", "neighbour", cost.beside) +
         fmt::format("{:<16}{:.2f}\n", "slowdown", cost.slowdown);
}

}  // namespace sluice::bench
