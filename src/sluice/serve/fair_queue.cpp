#include "sluice/serve/fair_queue.h"

#include <algorithm>

namespace sluice::serve {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Of the newest computation in the mean of recent ones: about the last ten count.
constexpr double kNewest = 0.2;

}  // namespace

std::optional<uint64_t> FairQueue::push(QueuedWork work) {
  const std::scoped_lock lock(mutex_);
  auto line = std::ranges::find(lines_, work.client, &Line::client);
  if (closed_ || waiting_ == limits_.waiting ||
      (line != lines_.end() && line->entries.size() == limits_.waiting_of_client))
    return {};
  if (line == lines_.end()) line = lines_.insert(lines_.end(), Line{.client = work.client, .entries = {}});
  line->entries.push_back({.ticket = ++last_ticket_, .work = std::move(work)});
  ++waiting_;
  arrived_.notify_one();
  return last_ticket_;
}

void FairQueue::cancel(uint64_t ticket) {
  const std::scoped_lock lock(mutex_);
  if (running_ && running_->entry.ticket == ticket) running_->cancelled = true;
  for (Line& line : lines_)
    waiting_ -= std::erase_if(line.entries, [&](const Entry& entry) { return entry.ticket == ticket; });
  std::erase_if(lines_, [](const Line& line) { return line.entries.empty(); });
}

std::shared_ptr<FairQueue::Running> FairQueue::take_next(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  arrived_.wait_for(lock, at_most, [&] { return closed_ || waiting_ > 0; });
  if (closed_ || waiting_ == 0) return {};
  // Whose turn it was goes to the end.
  Line line = std::move(lines_.front());
  lines_.pop_front();
  running_ = std::make_shared<Running>();
  running_->entry = std::move(line.entries.front());
  line.entries.pop_front();
  --waiting_;
  if (!line.entries.empty()) lines_.push_back(std::move(line));
  return running_;
}

Turn FairQueue::turn_of(const std::shared_ptr<Running>& running) const {
  const double limit = limits_.seconds;
  Turn turn{.waited_s = seconds_since(running->entry.since)};
  turn.control.cancelled = [running, limit] {
    return running->cancelled || seconds_since(running->since) > limit;
  };
  turn.control.progress = [running](const ProgressUpdate& update) {
    running->done = update.done;
    running->total = update.total;
  };
  return turn;
}

bool FairQueue::run_next(std::chrono::milliseconds at_most) {
  const std::shared_ptr<Running> running = take_next(at_most);
  if (!running) return false;
  running->entry.work.run(turn_of(running));
  const std::scoped_lock lock(mutex_);
  const double seconds = seconds_since(running->since);
  usual_seconds_ = usual_seconds_ == 0 ? seconds : (1 - kNewest) * usual_seconds_ + kNewest * seconds;
  running_.reset();
  return true;
}

// One of each client in turn, as they will be taken if nothing else arrives.
std::vector<const FairQueue::Entry*> FairQueue::in_order() const {
  std::vector<const Entry*> order;
  for (size_t round = 0; order.size() < waiting_; ++round)
    for (const Line& line : lines_)
      if (round < line.entries.size()) order.push_back(&line.entries[round]);
  return order;
}

QueueStatus FairQueue::status() const {
  const std::scoped_lock lock(mutex_);
  QueueStatus status;
  double expected = 0;
  if (running_) {
    const auto& [ticket, work, since] = running_->entry;
    const double seconds = seconds_since(running_->since);
    status.running = {.ticket = ticket,
                      .client = work.client,
                      .kind = work.kind,
                      .model = work.model,
                      .seconds = seconds,
                      .done = running_->done,
                      .total = running_->total};
    expected = std::max(usual_seconds_ - seconds, 0.0);
  }
  for (const Entry* entry : in_order()) {
    status.waiting.push_back({.ticket = entry->ticket,
                              .client = entry->work.client,
                              .kind = entry->work.kind,
                              .model = entry->work.model,
                              .place = status.waiting.size() + 1,
                              .waited_s = seconds_since(entry->since),
                              .expected_s = expected});
    expected += usual_seconds_;
  }
  return status;
}

void FairQueue::close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  lines_.clear();
  waiting_ = 0;
  if (running_) running_->cancelled = true;
  arrived_.notify_all();
}

}  // namespace sluice::serve
