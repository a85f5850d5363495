#include "sluice/serve/fair_queue.h"

#include <gtest/gtest.h>

#include <thread>

namespace sluice::serve {
namespace {

using namespace std::chrono_literals;

// Work that notes its name when its turn comes.
QueuedWork noting(std::vector<std::string>& order, const std::string& client, const std::string& name,
                  const std::string& peer = "here") {
  return {.client = {.peer = peer, .name = client},
          .kind = name,
          .model = "m",
          .run = [&order, name](const Turn&) { order.push_back(name); }};
}

TEST(FairQueue, lets_clients_take_turns) {
  FairQueue queue;
  std::vector<std::string> order;
  for (const char* name : {"a1", "a2", "a3"}) queue.push(noting(order, "a", name));
  queue.push(noting(order, "b", "b1"));
  queue.push(noting(order, "c", "c1"));
  queue.push(noting(order, "b", "b2"));
  std::vector<std::string> announced;
  for (const WaitingWork& work : queue.status().waiting) announced.push_back(work.kind);
  while (queue.run_next(0ms)) {
  }
  EXPECT_EQ(order, (std::vector<std::string>{"a1", "b1", "c1", "a2", "b2", "a3"}));
  EXPECT_EQ(announced, order) << "places are told in the order of turns";
}

TEST(FairQueue, gives_nobody_more_turns_for_taking_more_names) {
  FairQueue queue;
  std::vector<std::string> order;
  for (int i = 0; i < 4; ++i) queue.push(noting(order, "name-" + std::to_string(i), "rude", "there"));
  queue.push(noting(order, "", "b1", "elsewhere"));
  queue.push(noting(order, "", "b2", "elsewhere"));
  std::vector<std::string> announced;
  for (const WaitingWork& work : queue.status().waiting) announced.push_back(work.kind);
  while (queue.run_next(0ms)) {
  }
  EXPECT_EQ(order, (std::vector<std::string>{"rude", "b1", "rude", "b2", "rude", "rude"}));
  EXPECT_EQ(announced, order);
}

TEST(FairQueue, takes_no_more_of_a_peer_under_any_name) {
  FairQueue queue({.waiting = 5, .waiting_of_peer = 3, .waiting_of_client = 2});
  std::vector<std::string> order;
  int taken = 0;
  for (int i = 0; i < 20; ++i)
    taken += queue.push(noting(order, "name-" + std::to_string(i), "rude", "there")) ? 1 : 0;
  EXPECT_EQ(taken, 3);
  EXPECT_TRUE(queue.push(noting(order, "", "other", "elsewhere"))) << "there is room for others";
  EXPECT_EQ(queue.status().waiting.size(), 4U);
}

TEST(FairQueue, does_not_compute_what_was_cancelled) {
  FairQueue queue;
  std::vector<std::string> order;
  queue.push(noting(order, "a", "a1"));
  const uint64_t ticket = queue.push(noting(order, "a", "a2")).value();
  queue.push(noting(order, "b", "b1"));
  queue.cancel(ticket);
  queue.cancel(999);
  EXPECT_EQ(queue.status().waiting.size(), 2U);
  while (queue.run_next(0ms)) {
  }
  EXPECT_EQ(order, (std::vector<std::string>{"a1", "b1"}));
}

TEST(FairQueue, tells_a_computation_that_runs_to_stop) {
  FairQueue queue;
  uint64_t ticket = 0;
  bool before = true, after = false;
  ticket = queue
               .push({.client = {.peer = "a"},
                      .kind = "k",
                      .model = "m",
                      .run =
                          [&](const Turn& turn) {
                            before = turn.control.is_cancelled();
                            turn.control.report("layers", 2, 5);
                            EXPECT_EQ(queue.status().running->done, 2);
                            EXPECT_EQ(queue.status().running->total, 5);
                            queue.cancel(ticket);
                            after = turn.control.is_cancelled();
                          }})
               .value();
  EXPECT_TRUE(queue.run_next(0ms));
  EXPECT_FALSE(before);
  EXPECT_TRUE(after);
  EXPECT_FALSE(queue.status().running);
}

TEST(FairQueue, expects_a_wait_by_what_the_running_computation_has_counted) {
  FairQueue queue;
  std::vector<std::string> order;
  const auto expected = [&] { return queue.status().waiting.front().expected_s; };
  queue.push({.client = {.peer = "a"}, .kind = "generate", .model = "m", .run = [&](const Turn& turn) {
                queue.push(noting(order, "b", "view"));
                EXPECT_FALSE(expected()) << "nothing is known yet";
                turn.control.report("layers", 1, 2);  // of loading, which does not count
                std::this_thread::sleep_for(30ms);
                turn.control.report("tokens", 0, 100);
                std::this_thread::sleep_for(20ms);
                turn.control.report("tokens", 2, 100);
                ASSERT_TRUE(expected());
                EXPECT_GE(*expected(), 0.02 * 98 / 2);
                EXPECT_LT(*expected(), 0.05 * 98 / 2) << "of the tokens alone";
              }});
  queue.run_next(0ms);
  ASSERT_TRUE(expected());
  EXPECT_EQ(*expected(), 0.0) << "nothing runs";
}

TEST(FairQueue, expects_of_each_kind_what_it_usually_takes) {
  FairQueue queue;
  std::vector<std::string> order;
  queue.push({.client = {.peer = "a"}, .kind = "slow", .model = "m", .run = [](const Turn&) {
                std::this_thread::sleep_for(50ms);
              }});
  queue.push({.client = {.peer = "a"}, .kind = "fast", .model = "m", .run = [](const Turn&) {}});
  while (queue.run_next(0ms)) {
  }
  for (const char* kind : {"slow", "fast", "last"}) queue.push(noting(order, "a", kind));
  const std::vector<WaitingWork> waiting = queue.status().waiting;
  EXPECT_GE(*waiting[1].expected_s, 0.05) << "behind the slow one";
  EXPECT_LT(*waiting[2].expected_s - *waiting[1].expected_s, 0.025) << "behind the fast one, too";
}

TEST(FairQueue, stops_a_computation_that_takes_too_long) {
  FairQueue queue({.seconds = 0});
  bool cancelled = false;
  queue.push({.client = {.peer = "a"}, .kind = "k", .model = "m", .run = [&](const Turn& turn) {
                std::this_thread::sleep_for(1ms);
                cancelled = turn.control.is_cancelled();
              }});
  queue.run_next(0ms);
  EXPECT_TRUE(cancelled);
}

TEST(FairQueue, takes_no_more_than_its_limits) {
  FairQueue queue({.waiting = 4, .waiting_of_client = 3});
  std::vector<std::string> order;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue.push(noting(order, "a", "a")));
  EXPECT_FALSE(queue.push(noting(order, "a", "a"))) << "three of one client";
  EXPECT_TRUE(queue.push(noting(order, "b", "b")));
  EXPECT_FALSE(queue.push(noting(order, "c", "c"))) << "four in all";
  queue.run_next(0ms);
  EXPECT_TRUE(queue.push(noting(order, "c", "c")));
}

TEST(FairQueue, takes_nothing_once_it_is_closed) {
  FairQueue queue;
  std::vector<std::string> order;
  queue.push(noting(order, "a", "a"));
  queue.close();
  EXPECT_FALSE(queue.run_next(0ms));
  EXPECT_FALSE(queue.push(noting(order, "a", "a")));
  EXPECT_TRUE(order.empty());
}

}  // namespace
}  // namespace sluice::serve
