// Ranks that are threads of one process, so that tests and sanitizers see all of them.
#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "sluice/dist/ranks.h"

namespace sluice::test {

// What is on its way: copies of messages by exchange, sender and receiver.
struct ThreadPost {
  std::mutex mutex;
  std::map<std::tuple<int, int, int>, std::vector<std::byte>> messages;
  std::map<int, std::shared_ptr<ThreadPost>> parts;  // by the call of first()
  bool has_failed = false;                           // then nobody waits any more
};

class ThreadRanks final : public Ranks {
 public:
  ThreadRanks(std::shared_ptr<ThreadPost> post, int rank, int size)
      : Ranks(rank, size), post_(std::move(post)) {}

  std::unique_ptr<Ranks> first(int count) override {
    const std::lock_guard lock(post_->mutex);
    std::shared_ptr<ThreadPost>& part = post_->parts[firsts_++];
    if (!part) part = std::make_shared<ThreadPost>();
    if (rank() >= count) return nullptr;
    return std::make_unique<ThreadRanks>(part, rank(), count);
  }

 private:
  class Arrival final : public Transfer {
   public:
    Arrival(ThreadRanks& ranks, int exchange, Incoming in)
        : ranks_(ranks), exchange_(exchange), in_(std::move(in)) {}

    bool is_over() override {
      const std::lock_guard lock(ranks_.post_->mutex);
      for (; from_ < ranks_.size(); ++from_) {
        const std::span<std::byte> target = in_[static_cast<size_t>(from_)];
        if (from_ == ranks_.rank() || target.empty()) continue;
        const auto found = ranks_.post_->messages.find({exchange_, from_, ranks_.rank()});
        if (found == ranks_.post_->messages.end()) {
          if (ranks_.post_->has_failed) throw std::runtime_error("another rank has failed");
          return false;
        }
        if (found->second.size() != target.size()) throw std::logic_error("a message of another size");
        std::ranges::copy(found->second, target.begin());
        ranks_.post_->messages.erase(found);
      }
      return true;
    }

   private:
    ThreadRanks& ranks_;
    int exchange_;
    Incoming in_;
    int from_ = 0;  // whose message comes next
  };

  std::unique_ptr<Transfer> start(const Outgoing& out, const Incoming& in) override {
    const std::lock_guard lock(post_->mutex);
    for (int to = 0; to < size(); ++to) {
      const auto message = out[static_cast<size_t>(to)];
      if (to != rank() && !message.empty())
        post_->messages[{exchanges_, rank(), to}] = {message.begin(), message.end()};
    }
    return std::make_unique<Arrival>(*this, exchanges_++, in);
  }

  std::shared_ptr<ThreadPost> post_;
  int exchanges_ = 0, firsts_ = 0;
};

// Runs `body` on so many ranks at once. What the lowest of them threw is thrown again.
inline void on_ranks(int count, const std::function<void(Ranks&)>& body) {
  const auto post = std::make_shared<ThreadPost>();
  std::vector<std::exception_ptr> thrown(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadRanks ranks(post, rank, count);
      try {
        body(ranks);
      } catch (...) {
        thrown[static_cast<size_t>(rank)] = std::current_exception();
        const std::lock_guard lock(post->mutex);
        post->has_failed = true;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& each : thrown)
    if (each) std::rethrow_exception(each);
}

}  // namespace sluice::test
