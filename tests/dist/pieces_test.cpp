#include "sluice/dist/pieces.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

std::vector<Piece> some_pieces(int count) {
  std::vector<Piece> pieces;
  for (int i = 0; i < count; ++i)
    pieces.push_back({.name = fmt::format("variant/seed-{}", i), .fingerprint = "a"});
  return pieces;
}

class Pieces : public testing::Test {
 protected:
  TemporaryDirectory directory_;
  PieceFolder folder_{directory_.path() / "pieces"};
};

TEST_F(Pieces, are_worked_on_once_each_by_however_many_workers) {
  const std::vector<Piece> pieces = some_pieces(20);
  std::vector<std::atomic<int>> times(pieces.size());
  std::vector<std::thread> workers;
  std::atomic<int> complete = 0;
  for (int worker = 0; worker < 3; ++worker) {
    workers.emplace_back([&] {
      const auto work = [&](size_t i) {
        ++times[i];
        return fmt::format("piece {}", i);
      };
      ASSERT_TRUE(share_pieces(folder_, pieces, work, {}));
      for (size_t i = 0; i < pieces.size(); ++i)
        EXPECT_EQ(folder_.note_of(pieces[i]), fmt::format("piece {}", i));
      ++complete;
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(complete, 3) << "all of them see all results";
  for (const auto& count : times) EXPECT_EQ(count, 1);
}

TEST_F(Pieces, of_a_worker_that_fails_are_taken_up_by_others) {
  const std::vector<Piece> pieces = some_pieces(3);
  const auto dies = [](size_t i) -> std::string {
    if (i == 1) throw failure({.what = "died"});
    return "first";
  };
  EXPECT_THROW(share_pieces(folder_, pieces, dies, {}), Error);
  std::vector<size_t> taken;
  const auto lives = [&](size_t i) {
    taken.push_back(i);
    return "second";
  };
  EXPECT_TRUE(share_pieces(folder_, pieces, lives, {}));
  EXPECT_EQ(taken, (std::vector<size_t>{1, 2}));
  EXPECT_EQ(folder_.note_of(pieces[0]), "first");
  EXPECT_EQ(folder_.note_of(pieces[2]), "second");
}

TEST_F(Pieces, that_somebody_has_are_left_alone_until_the_lock_is_gone) {
  const Piece piece = some_pieces(1).front();
  std::optional<FileDescriptor> lock = folder_.claim(piece);
  ASSERT_TRUE(lock);
  EXPECT_FALSE(folder_.claim(piece));
  EXPECT_NE(folder_.owner_of(piece).find("process "), std::string::npos);
  lock.reset();  // as when the process ends
  EXPECT_TRUE(folder_.claim(piece));
}

TEST_F(Pieces, are_done_again_if_they_are_to_be_done_otherwise) {
  Piece piece = some_pieces(1).front();
  folder_.done(piece, "note\nof two lines");
  EXPECT_EQ(folder_.note_of(piece), "note\nof two lines");
  EXPECT_FALSE(folder_.claim(piece));
  piece.fingerprint = "b";
  EXPECT_FALSE(folder_.note_of(piece));
  EXPECT_TRUE(folder_.claim(piece));
}

TEST_F(Pieces, end_when_the_job_is_cancelled) {
  int worked = 0;
  bool cancelled = false;
  const auto work = [&](size_t) {
    cancelled = ++worked == 2;
    return "";
  };
  EXPECT_FALSE(share_pieces(folder_, some_pieces(5), work, {.cancelled = [&] { return cancelled; }}));
  EXPECT_EQ(worked, 2);
  EXPECT_FALSE(folder_.note_of(some_pieces(5)[1])) << "what was cancelled is not done";
}

TEST_F(Pieces, are_collected_by_one_process_of_a_job) {
  std::vector<bool> told;
  const auto work = [&](bool collects) {
    told.push_back(collects);
    return 42;
  };
  const auto collects_inside = [&](bool collects) {
    EXPECT_TRUE(collects);
    const JobControl impatient{.cancelled = [] { return true; }};
    EXPECT_THROW(collect<int>(folder_, "job", {work}, impatient), Error) << "while another process collects";
    return 1;
  };
  EXPECT_EQ(collect<int>(folder_, "job", {collects_inside}, {}), 1);
  EXPECT_FALSE(collect<int>(folder_, "job", {work}, {})) << "it was collected";
  EXPECT_EQ(told, (std::vector<bool>{false, false}));
  EXPECT_EQ(collect<int>(folder_, "the next job", {work}, {}), 42);
}

TEST_F(Pieces, are_not_collected_before_the_result_is_written_down) {
  const auto work = [](bool) { return 42; };
  const auto dies = [&](int) {
    EXPECT_FALSE(folder_.is_done({.name = "result", .fingerprint = "job"}));
    throw failure({.what = "the disk is full"});
  };
  EXPECT_THROW(collect<int>(folder_, "job", {work, dies}, {}), Error);
  int published = 0;
  EXPECT_EQ(collect<int>(folder_, "job", {work, [&](int result) { published = result; }}, {}), 42);
  EXPECT_EQ(published, 42) << "by the next one";
  EXPECT_FALSE(collect<int>(folder_, "job", {work, dies}, {}));
}

TEST_F(Pieces, are_collected_once_by_processes_that_join_at_the_same_time) {
  const auto work = [](bool) { return 42; };
  {
    SharedResult early(folder_, ""), late(folder_, "");
    EXPECT_TRUE(early.claim());
    EXPECT_FALSE(late.claim());
    early.publish();
    EXPECT_FALSE(late.outlives_collector({}));
  }
  EXPECT_EQ(collect<int>(folder_, "", {work}, {}), 42) << "who comes later may have it again";
}

TEST_F(Pieces, are_collected_by_another_if_the_collector_is_gone) {
  std::optional<FileDescriptor> collector = folder_.claim({.name = "result", .fingerprint = "job"});
  std::vector<bool> told;
  const auto outlives = [&](bool collects) {
    told.push_back(collects);
    collector.reset();  // as when its process ends
    return 42;
  };
  EXPECT_EQ(collect<int>(folder_, "job", {outlives}, {}), 42);
  EXPECT_EQ(told, (std::vector<bool>{false, true}));
}

TEST_F(Pieces, belong_to_one_job) {
  const std::filesystem::path folder = directory_.path() / "job";
  EXPECT_TRUE(begins_or_joins(folder, "mpirun 1"));
  EXPECT_TRUE(begins_or_joins(folder, "mpirun 1"));
  EXPECT_FALSE(begins_or_joins(folder, "mpirun 2"));
}

}  // namespace
}  // namespace sluice
