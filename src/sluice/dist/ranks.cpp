#include "sluice/dist/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>

#include "sluice/base/assert.h"
#include "sluice/base/error.h"
#include "sluice/base/stopwatch.h"

namespace sluice {
namespace {

class Over final : public Ranks::Transfer {
 public:
  bool is_over() override { return true; }
};

template <class T>
std::span<const std::byte> bytes_of(std::span<const T> values) {
  return std::as_bytes(values);
}

std::span<const std::byte> bytes_of_text(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::span<std::byte> memory_of(std::string& text) {
  return std::as_writable_bytes(std::span(text.data(), text.size()));
}

std::vector<int64_t> gather_counts(Ranks& ranks, int64_t own) {
  std::vector<int64_t> counts(static_cast<size_t>(ranks.size()));
  const Ranks::Outgoing out(counts.size(), bytes_of(std::span<const int64_t>(&own, 1)));
  Ranks::Incoming in;
  for (int64_t& count : counts) in.push_back(std::as_writable_bytes(std::span(&count, 1)));
  ranks.exchange(out, in);
  return counts;
}

}  // namespace

std::string Ranks::name_of(int rank) const {
  return fmt::format("rank {}", rank);
}

std::unique_ptr<Ranks::Transfer> Ranks::begin(const Outgoing& out, const Incoming& in) {
  const auto count = static_cast<size_t>(size_);
  SLUICE_ASSERT(out.size() == count && in.size() == count, "ranks: {} and {} messages for {} ranks",
                out.size(), in.size(), count);
  const auto self = static_cast<size_t>(rank_);
  SLUICE_ASSERT(out[self].size() == in[self].size(), "ranks: {} bytes to itself, {} expected",
                out[self].size(), in[self].size());
  if (!out[self].empty()) std::memcpy(in[self].data(), out[self].data(), out[self].size());
  for (size_t to = 0; to < count; ++to) {
    if (to == self || out[to].empty()) continue;
    traffic_.bytes += static_cast<int64_t>(out[to].size());
    ++traffic_.messages;
  }
  return start(out, in);
}

void Ranks::wait(Transfer& transfer) {
  const Stopwatch watch;
  wait_until_over(transfer);
  traffic_.waited += watch.seconds();
}

void Ranks::wait_until_over(Transfer& transfer) {
  // Most messages are there at once, or nearly. After that a rank must not take time from those it waits for.
  constexpr int kYields = 1000;
  for (int asked = 0; !transfer.is_over(); ++asked) {
    if (asked < kYields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

Ranks::Ending Ranks::end(const std::string&) {
  return {};
}

void Ranks::abandon(int exit_code) {
  std::_Exit(exit_code);
}

std::unique_ptr<Ranks> Alone::first(int count) {
  SLUICE_ASSERT(count == 1, "ranks: the first {} of one", count);
  return std::make_unique<Alone>();
}

std::unique_ptr<Ranks::Transfer> Alone::start(const Outgoing&, const Incoming&) {
  return std::make_unique<Over>();
}

Ranks& alone() {
  // Of each thread: nothing is shared between jobs that run at the same time.
  static thread_local Alone group;
  return group;
}

std::vector<std::string> all_gather(Ranks& ranks, const std::string& own) {
  const std::vector<int64_t> sizes = gather_counts(ranks, std::ssize(own));
  std::vector<std::string> all;
  for (const int64_t size : sizes) all.emplace_back(static_cast<size_t>(size), '\0');
  Ranks::Incoming in;
  for (std::string& each : all) in.push_back(memory_of(each));
  ranks.exchange(Ranks::Outgoing(all.size(), bytes_of_text(own)), in);
  return all;
}

std::vector<double> all_gather(Ranks& ranks, std::span<const double> own) {
  const std::string bytes(reinterpret_cast<const char*>(own.data()), own.size_bytes());
  std::vector<double> all;
  for (const std::string& each : all_gather(ranks, bytes)) {
    const size_t had = all.size();
    all.resize(had + each.size() / sizeof(double));
    if (!each.empty()) std::memcpy(all.data() + had, each.data(), each.size());
  }
  return all;
}

void broadcast(Ranks& ranks, std::span<std::byte> bytes) {
  // A message's size is an int to MPI.
  constexpr size_t kMost = size_t{1} << 30;
  const auto count = static_cast<size_t>(ranks.size());
  for (size_t done = 0; done < bytes.size(); done += kMost) {
    const std::span<std::byte> part = bytes.subspan(done, std::min(kMost, bytes.size() - done));
    Ranks::Outgoing out(count);
    Ranks::Incoming in(count);
    if (ranks.is_first()) {
      std::fill(out.begin() + 1, out.end(), part);
    } else {
      in.front() = part;
    }
    ranks.exchange(out, in);
  }
}

std::string broadcast(Ranks& ranks, const std::string& text) {
  const std::vector<int64_t> sizes = gather_counts(ranks, std::ssize(text));
  std::string all = ranks.is_first() ? text : std::string(static_cast<size_t>(sizes.front()), '\0');
  broadcast(ranks, memory_of(all));
  return all;
}

void sum_over(Ranks& ranks, std::span<int64_t> counts) {
  if (ranks.size() == 1) return;
  const std::string own(reinterpret_cast<const char*>(counts.data()), counts.size_bytes());
  std::ranges::fill(counts, 0);
  for (const std::string& each : all_gather(ranks, own)) {
    SLUICE_ASSERT(each.size() == own.size(), "ranks: {} bytes to add to {}", each.size(), own.size());
    for (size_t i = 0; i < counts.size(); ++i) {
      int64_t count = 0;
      std::memcpy(&count, each.data() + i * sizeof(count), sizeof(count));
      counts[i] += count;
    }
  }
}

int64_t agree_on_largest(Ranks& ranks, int64_t own) {
  return std::ranges::max(gather_counts(ranks, own));
}

void together(Ranks& ranks, const std::function<void()>& work) {
  if (ranks.size() == 1) return work();
  // The exit code in front of the message; empty: no error.
  std::string problem;
  try {
    work();
  } catch (const Error& error) {
    problem = fmt::format("{:03}{}", error.exit_code(), error.what());
  }
  const std::vector<std::string> all = all_gather(ranks, problem);
  const auto first = std::ranges::find_if(all, [](const std::string& each) { return !each.empty(); });
  if (first == all.end()) return;
  const auto kind = static_cast<ErrorKind>(std::stoi(first->substr(0, 3)));
  const bool everywhere = std::ranges::all_of(all, [&](const std::string& each) { return each == *first; });
  const int rank = static_cast<int>(first - all.begin());
  throw Error(kind, {.where = everywhere ? "" : ranks.name_of(rank), .what = first->substr(3)});
}

}  // namespace sluice
