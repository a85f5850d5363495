// A rank that is lost ends the run, says so, and costs nothing but the steps since the last checkpoint.
#include <csignal>
#include <fstream>
#include <future>
#include <random>
#include <thread>

#include "tests/cli/train_command.h"

namespace sluice::test {
namespace {

namespace fs = std::filesystem;
using Seconds = std::chrono::duration<double>;

// What is promised for a rank that is lost, from then on.
constexpr double kEndsWithin = 30;  // seconds

class RanksFailure : public TrainCommand {
 protected:
  void SetUp() override {
    if (!find_program("mpirun")) GTEST_SKIP() << "mpirun is not installed (scripts/install-deps.sh --tests)";
    if (run_sluice({"doctor", "--json"}).out.find("\"mpi\": null") != std::string::npos)
      GTEST_SKIP() << "this build has no MPI";
  }

  static RunOptions patient() {
    return {.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                            {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                            {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                            {"OMPI_MCA_mpi_yield_when_idle", "1"},
                            {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
                            {"OMPI_MCA_hwloc_base_binding_policy", "none"},
                            {"OMPI_MCA_btl", "self,vader"}},
            .kill_after = std::chrono::minutes(3),
            .killed = Killed::Group};
  }

  Words rank_arguments(int ranks, const std::string& out, const Words& more) const {
    Words arguments = {"-n", std::to_string(ranks), SLUICE_PROGRAM};
    for (const std::string& word : train_arguments(out)) arguments.push_back(word);
    for (const char* word : {"--set", "pass_tokens=32", "--set", "checkpoints.every=3"})
      arguments.emplace_back(word);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  std::future<ProgramRun> begin(int ranks, const std::string& out, const Words& more) const {
    return std::async(std::launch::async, [=, this] {
      return run_program(*find_program("mpirun"), rank_arguments(ranks, out, more), patient());
    });
  }

  // The process of a rank that trains in `out`; 0 if there is none.
  pid_t process_of(const std::string& out, int rank) const {
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::string words = content_of(entry.path() / "cmdline");
      const bool is_sluice = words.starts_with(SLUICE_PROGRAM) && words.find(path(out)) != std::string::npos;
      const std::string variable = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank) + std::string(1, '\0');
      if (is_sluice && content_of(entry.path() / "environ").find(variable) != std::string::npos)
        return static_cast<pid_t>(std::stol(name));
    }
    return 0;
  }

  // 0 if there is no such process.
  static pid_t parent_of(pid_t process) {
    // "1234 (its name) S 1 ...": the parent is the second word behind the name.
    const std::string stat = content_of("/proc/" + std::to_string(process) + "/stat");
    const size_t name_end = stat.rfind(')');
    return name_end == std::string::npos ? 0 : static_cast<pid_t>(std::stol(stat.substr(name_end + 4)));
  }

  bool wait_for_checkpoint(const std::string& out, const std::future<ProgramRun>& run) const {
    for (int i = 0; i < 1200 && run.wait_for(std::chrono::milliseconds(100)) == std::future_status::timeout;
         ++i)
      if (fs::exists(path(out + "/latest/state.json"))) return true;
    return false;
  }

  void expect_nothing_left(const std::string& out) const {
    for (int rank = 0; rank < 4; ++rank) {
      pid_t left = process_of(out, rank);
      for (int i = 0; i < 100 && left != 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        left = process_of(out, rank);
      }
      EXPECT_EQ(left, 0) << "rank " << rank << " goes on";
      if (left != 0) ::kill(left, SIGKILL);
    }
  }

  // Sends a signal to rank 1 of three in the middle of a run; what the run tells then.
  ProgramRun disturb(const std::string& out, int signal) const {
    std::future<ProgramRun> run = begin(3, out, {"--set", "steps=100000"});
    EXPECT_TRUE(wait_for_checkpoint(out, run));
    const pid_t process = process_of(out, 1);
    EXPECT_NE(process, 0);
    if (process != 0) ::kill(process, signal);
    const auto start = std::chrono::steady_clock::now();
    ProgramRun ended = run.get();
    EXPECT_LT(Seconds(std::chrono::steady_clock::now() - start).count(), kEndsWithin) << ended.err;
    expect_failed(ended, out);
    return ended;
  }

  // With a whole checkpoint, and without a process that goes on.
  void expect_failed(const ProgramRun& ended, const std::string& out) const {
    EXPECT_FALSE(ended.was_killed);
    EXPECT_NE(ended.exit_code, 0);
    expect_nothing_left(out);
    EXPECT_EQ(run_sluice({"params", path(out + "/latest")}).exit_code, 0);
  }

#ifdef SLUICE_FAILING_MEMORY
  // It says so itself; or, where it had no memory for that either, another rank tells who is gone.
  static void expect_out_of_memory(const ProgramRun& ended, int rank) {
    const std::string name = "rank " + std::to_string(rank);
    const auto says = [&](const std::string& words) { return ended.err.find(words) != std::string::npos; };
    EXPECT_TRUE(says(name + ": out of memory") || (says("error: out of memory") && says(name + " is lost")))
        << ended.err;
    EXPECT_TRUE(says("the last checkpoint, of step")) << ended.err;
    EXPECT_FALSE(says("terminate called")) << ended.err;
    EXPECT_FALSE(says("Signal: Aborted")) << ended.err;
  }

  // A rank of three gets no more blocks of so many bytes in the middle of a run.
  ProgramRun starve(const std::string& out, int rank, int64_t bytes) const {
    const std::string from = path(out + "-from"), since = path(out + "-since");
    RunOptions options = patient();
    options.environment.insert({{"LD_PRELOAD", SLUICE_FAILING_MEMORY},
                                {"FAILING_RANK", std::to_string(rank)},
                                {"FAILING_BYTES", std::to_string(bytes)},
                                {"FAILING_FROM", from},
                                {"FAILING_SINCE", since}});
    std::future<ProgramRun> run = std::async(std::launch::async, [&] {
      return run_program(*find_program("mpirun"), rank_arguments(3, out, {"--set", "steps=100000"}), options);
    });
    EXPECT_TRUE(wait_for_checkpoint(out, run));
    std::ofstream(from).close();
    ProgramRun ended = run.get();
    // Not from when memory was forbidden: it may be a while before a rank needs any.
    EXPECT_TRUE(fs::exists(since));
    if (fs::exists(since)) {
      const Seconds took = fs::file_time_type::clock::now() - fs::last_write_time(since);
      EXPECT_LT(took.count(), kEndsWithin) << ended.err;
    }
    expect_failed(ended, out);
    return ended;
  }
#endif

  struct PlannedKill {
    int rank;
    bool early;  // from its start on; else when the run has got somewhere
    std::chrono::milliseconds life;
  };

  static PlannedKill draw_kill(int ranks, std::mt19937& random) {
    const bool early = random() % 4 == 0;
    const auto life = std::chrono::milliseconds(random() % 200);
    return {.rank = static_cast<int>(random() % static_cast<unsigned>(ranks)), .early = early, .life = life};
  }

  // False if the run had ended by then.
  bool kill_one(const std::future<ProgramRun>& run, const std::string& out, const PlannedKill& kill,
                const std::string& before) const {
    while (run.wait_for(std::chrono::milliseconds(10)) == std::future_status::timeout) {
      if (!kill.early && content_of(path(out + "/latest/state.json")) == before) continue;
      run.wait_for(kill.life);
      const pid_t process = process_of(out, kill.rank);
      const pid_t launcher = parent_of(process);
      if (process == 0 || launcher <= 1) continue;
      if (::kill(process, SIGKILL) != 0) return false;
      if (kill.early) end_launcher_that_waits(run, out, launcher);
      return true;
    }
    return false;
  }

  // A process that dies while it says hello to mpirun can leave it waiting for itself when all ranks are
  // gone: seen with PMIx 4.2.2, in PMIx_server_finalize (docs/log.md). No rank can help it. What is promised
  // of Sluice is that none of them goes on.
  void end_launcher_that_waits(const std::future<ProgramRun>& run, const std::string& out,
                               pid_t launcher) const {
    if (run.wait_for(Seconds(kEndsWithin)) != std::future_status::timeout) return;
    expect_nothing_left(out);
    ::kill(launcher, SIGKILL);
  }

  std::string weights(const std::string& name) const {
    return content_of(path(name + "/latest/model.safetensors"));
  }
};

TEST_F(RanksFailure, a_killed_rank_ends_the_run_and_is_named) {
  const ProgramRun ended = disturb("run", SIGKILL);
  EXPECT_NE(ended.err.find("rank 1"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("checkpoint, of step"), std::string::npos) << ended.err;
}

TEST_F(RanksFailure, a_stopped_rank_ends_the_run_and_is_named) {
  const ProgramRun ended = disturb("run", SIGSTOP);
  EXPECT_NE(ended.err.find("rank 1 is lost: no sign of life"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("the last checkpoint, of step"), std::string::npos) << ended.err;
}

#ifdef SLUICE_FAILING_MEMORY
TEST_F(RanksFailure, a_rank_out_of_memory_ends_the_run_and_is_named) {
  expect_out_of_memory(starve("run", 1, 200), 1);
}

TEST_F(RanksFailure, the_first_rank_out_of_memory_ends_the_run_and_is_named) {
  expect_out_of_memory(starve("run", 0, 200), 0);
}

TEST_F(RanksFailure, a_rank_that_gets_no_memory_at_all_says_so) {
  const ProgramRun ended = starve("run", 1, 1);
  EXPECT_NE(ended.err.find("out of memory"), std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find("terminate called"), std::string::npos) << ended.err;
}
#endif

TEST_F(RanksFailure, asked_to_stop_one_rank_stops_all_and_saves) {
  std::future<ProgramRun> run = begin(3, "run", {"--set", "steps=100000"});
  ASSERT_TRUE(wait_for_checkpoint("run", run));
  const pid_t process = process_of("run", 2);
  ASSERT_NE(process, 0);
  ::kill(process, SIGTERM);
  const ProgramRun ended = run.get();
  EXPECT_EQ(ended.exit_code, 130) << ended.err;
  EXPECT_NE(ended.err.find("stopped and saved after step"), std::string::npos) << ended.err;
  expect_nothing_left("run");
}

// Two programs in one job: the first trains, the other is given.
TEST_F(RanksFailure, a_process_that_ends_before_the_others_begin_is_not_waited_for) {
  Words arguments = rank_arguments(1, "run", {});
  for (const char* word : {":", "-n", "1", SLUICE_PROGRAM, "--version"}) arguments.emplace_back(word);
  const auto start = std::chrono::steady_clock::now();
  const ProgramRun ended = run_program(*find_program("mpirun"), arguments, patient());
  EXPECT_LT(Seconds(std::chrono::steady_clock::now() - start).count(), kEndsWithin) << ended.err;
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_NE(ended.err.find("not all of its 2 processes have begun"), std::string::npos) << ended.err;
  EXPECT_FALSE(fs::exists(path("run")));
}

TEST_F(RanksFailure, a_command_line_that_is_wrong_for_one_rank_alone_is_told) {
  Words arguments = rank_arguments(1, "run", {});
  for (const char* word : {":", "-n", "1", SLUICE_PROGRAM, "train", "--badoption"})
    arguments.emplace_back(word);
  const ProgramRun ended = run_program(*find_program("mpirun"), arguments, patient());
  EXPECT_EQ(ended.exit_code, 2) << ended.err;
  EXPECT_NE(ended.err.find("error: rank 1: "), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("--badoption"), std::string::npos) << ended.err;
}

// mpirun hands this one on at once; of Ctrl-C its processes hear later, and have a second.
TEST_F(RanksFailure, asked_to_stop_through_mpirun_all_stop_and_save) {
  std::future<ProgramRun> run = begin(3, "run", {"--set", "steps=100000"});
  ASSERT_TRUE(wait_for_checkpoint("run", run));
  const pid_t process = parent_of(process_of("run", 0));
  ASSERT_GT(process, 1);
  ::kill(process, SIGUSR1);
  const ProgramRun ended = run.get();
  EXPECT_EQ(ended.exit_code, 130) << ended.err;
  EXPECT_NE(ended.err.find("stopped and saved after step"), std::string::npos) << ended.err;
  expect_nothing_left("run");
}

// On a fast machine a run may be over before it was killed often enough: then the next one begins.
TEST_F(RanksFailure, twenty_kills_of_any_rank_leave_the_weights_of_an_undisturbed_run) {
  const Words length = {"--set", "steps=150"};
  Words whole = length;
  for (const char* word : {"--set", "pass_tokens=32", "--set", "checkpoints.every=3"})
    whole.emplace_back(word);
  ASSERT_EQ(train("whole", whole).exit_code, 0);
  ASSERT_FALSE(weights("whole").empty());
  std::mt19937 random(1);
  int kills = 0, finished = 0;
  for (int attempt = 0; attempt < 200 && (kills < 20 || finished == 0); ++attempt) {
    const std::string out = "run-" + std::to_string(finished);
    const int ranks = 2 + static_cast<int>(random() % 3);
    Words more = length;
    if (fs::exists(path(out + "/config.json"))) more.push_back("--resume");
    const std::string before = content_of(path(out + "/latest/state.json"));
    std::future<ProgramRun> run = begin(ranks, out, more);
    if (kills < 20) kills += kill_one(run, out, draw_kill(ranks, random), before) ? 1 : 0;
    const ProgramRun ended = run.get();
    ASSERT_FALSE(ended.was_killed) << ended.err;
    expect_nothing_left(out);
    if (ended.exit_code != 0) continue;
    EXPECT_EQ(weights(out), weights("whole")) << "after " << kills << " kills";
    ++finished;
  }
  EXPECT_GE(kills, 20);
  EXPECT_GE(finished, 1);
}

}  // namespace
}  // namespace sluice::test
