#include "sluice/dist/ranks.h"

#include <gtest/gtest.h>

#include <map>

#include "sluice/base/error.h"
#include "sluice/dist/fingerprint.h"
#include "sluice/dist/launch.h"
#include "sluice/dist/slow_rank.h"
#include "tests/dist/thread_ranks.h"

namespace sluice::test {
namespace {

TEST(RankExchange, gathers_what_each_has_in_the_order_of_the_ranks) {
  for (const int count : {1, 2, 3, 5}) {
    on_ranks(count, [&](Ranks& ranks) {
      const std::string own(static_cast<size_t>(ranks.rank()), 'x');  // the first has nothing
      const std::vector<std::string> all = all_gather(ranks, own);
      ASSERT_EQ(all.size(), static_cast<size_t>(count));
      for (size_t rank = 0; rank < all.size(); ++rank) EXPECT_EQ(all[rank], std::string(rank, 'x'));
      EXPECT_EQ(broadcast(ranks, fmt::format("from {}", ranks.rank())), "from 0");
      EXPECT_EQ(agree_on_largest(ranks, ranks.rank() * 10), (count - 1) * 10);
      const std::vector<double> numbers = {1.0 * ranks.rank(), 0.5};
      EXPECT_EQ(all_gather(ranks, numbers).size(), 2U * static_cast<size_t>(count));
    });
  }
}

TEST(RankExchange, counts_what_is_sent_to_others_alone) {
  on_ranks(3, [](Ranks& ranks) {
    std::string in(3, ' ');
    const std::string out = "abc";
    Ranks::Incoming into;
    for (char& c : in) into.push_back(std::as_writable_bytes(std::span(&c, 1)));
    ranks.exchange(Ranks::Outgoing(3, std::as_bytes(std::span(out.data(), 1))), into);
    EXPECT_EQ(in, "aaa");
    EXPECT_EQ(ranks.traffic().bytes, 2);
    EXPECT_EQ(ranks.traffic().messages, 2);
  });
}

TEST(RankExchange, has_a_group_of_the_first_ones) {
  on_ranks(3, [](Ranks& ranks) {
    const std::unique_ptr<Ranks> two = ranks.first(2);
    ASSERT_EQ(two != nullptr, ranks.rank() < 2);
    if (two) {
      EXPECT_EQ(agree_on_largest(*two, ranks.rank()), 1);
    }
  });
}

// The line of the error that every rank must throw.
std::string line_of_all(int count, const std::function<void(Ranks&)>& body) {
  std::mutex mutex;
  std::vector<std::string> lines;
  on_ranks(count, [&](Ranks& ranks) {
    try {
      body(ranks);
    } catch (const Error& error) {
      const std::lock_guard lock(mutex);
      lines.push_back(fmt::format("{} {}", error.exit_code(), error.what()));
    }
  });
  EXPECT_EQ(lines.size(), static_cast<size_t>(count)) << "all have to stop";
  for (const std::string& line : lines) EXPECT_EQ(line, lines.front());
  return lines.empty() ? "" : lines.front();
}

TEST(Together, what_fails_on_one_rank_fails_on_all_and_names_it) {
  EXPECT_EQ(line_of_all(3,
                        [](Ranks& ranks) {
                          together(ranks, [&] {
                            if (ranks.rank() == 1)
                              throw bad_input({.where = "x.tokens", .what = "cannot open"});
                          });
                        }),
            "3 rank 1: x.tokens: cannot open");
  EXPECT_EQ(
      line_of_all(
          2, [](Ranks& ranks) { together(ranks, [] { throw usage_error({.what = "no such thing"}); }); }),
      "2 no such thing");
}

TEST(Fingerprints, that_differ_are_refused_on_all_ranks) {
  EXPECT_EQ(
      line_of_all(3,
                  [](Ranks& ranks) {
                    check_same_everywhere(ranks, {{"version", "1"}, {"data", ranks.rank() == 2 ? "b" : "a"}});
                  }),
      "3 rank 2: its data is not that of rank 0: expected a, got b");
  on_ranks(2, [](Ranks& ranks) { check_same_everywhere(ranks, {{"data", "a"}}); });
}

TEST(Fingerprints, of_another_version_are_refused_before_anything_else_is_said) {
  const std::string line = line_of_all(3, [](Ranks& ranks) {
    BuildInfo build = build_info();
    if (ranks.rank() == 1) build.version = "0.0.9";
    check_same_version(ranks, build);
    ADD_FAILURE() << "rank " << ranks.rank() << " goes on";
  });
  EXPECT_TRUE(line.starts_with("3 rank 1: its version of sluice is not that of rank 0: expected ")) << line;
  EXPECT_NE(line.find("got 0.0.9 ("), std::string::npos) << line;
  on_ranks(3, [](Ranks& ranks) { check_same_version(ranks); });
}

Launch launched_by(const std::map<std::string, std::string>& variables) {
  return launch_of([&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(Launch, is_read_from_what_launchers_leave_in_the_environment) {
  EXPECT_EQ(launched_by({}).size, 1);
  const Launch open = launched_by(
      {{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  EXPECT_EQ(open.size, 4);
  EXPECT_EQ(open.rank, 3);
  EXPECT_EQ(open.local_size, 2);
  EXPECT_EQ(open.by, "mpirun");
  EXPECT_EQ(launched_by({{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}}).rank, 1);
  EXPECT_EQ(launched_by({{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}}).job, "") << "it has no name";
  const Launch slurm = launched_by(
      {{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "5"}, {"SLURM_STEP_TASKS_PER_NODE", "4(x2)"}});
  EXPECT_EQ(slurm.by, "srun");
  EXPECT_EQ(slurm.local_size, 4);
}

TEST(Launch, of_a_batch_script_or_of_nonsense_is_one_process) {
  EXPECT_EQ(launched_by({{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}}).size, 1) << "the script itself";
  EXPECT_EQ(launched_by({{"OMPI_COMM_WORLD_SIZE", "x"}, {"OMPI_COMM_WORLD_RANK", "0"}}).size, 1);
  EXPECT_EQ(launched_by({{"PMI_SIZE", "2"}, {"PMI_RANK", "7"}}).size, 1);
  EXPECT_EQ(launched_by({{"PMI_SIZE", "1"}, {"PMI_RANK", "0"}}).size, 1);
}

TEST(Launch, shares_the_cores_of_a_host_unless_they_are_bound) {
  const Launch four{.rank = 0, .size = 4, .local_size = 4};
  EXPECT_EQ(threads_per_process(four, 16, 16), 4);
  EXPECT_EQ(threads_per_process(four, 1, 16), 1) << "bound to a core";
  EXPECT_EQ(threads_per_process(four, 2, 2), 1) << "more processes than cores";
}

std::optional<SlowRank> after_steps(SlowRankWatch& watch, const std::vector<double>& seconds) {
  std::optional<SlowRank> told;
  for (int64_t step = 0; step < SlowRankWatch::kSteps; ++step) {
    if (const auto slow = watch.add(seconds)) told = slow;
  }
  return told;
}

TEST(SlowRanks, are_named_once_until_they_change) {
  SlowRankWatch watch;
  EXPECT_FALSE(after_steps(watch, {1.0, 1.1, 1.2}));
  const auto slow = after_steps(watch, {1.0, 3.0, 1.0});
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->rank, 1);
  EXPECT_NEAR(slow->factor, 3.0, 1e-9);
  EXPECT_FALSE(after_steps(watch, {1.0, 3.0, 1.0})) << "told already";
  EXPECT_TRUE(after_steps(watch, {1.0, 9.0, 1.0})) << "much slower than before";
  EXPECT_FALSE(after_steps(watch, {1.0, 1.0, 1.0}));
  EXPECT_TRUE(after_steps(watch, {1.0, 3.0, 1.0})) << "again";
}

TEST(SlowRanks, need_somebody_to_be_compared_with) {
  SlowRankWatch watch;
  EXPECT_FALSE(after_steps(watch, {1.0}));
}

}  // namespace
}  // namespace sluice::test
