#include "sluice/serve/fair_queue.h"

#include <algorithm>

namespace sluice::serve {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Of the newest computation in the mean of recent ones: about the last ten count.
constexpr double kNewest = 0.2;

// The one that has this name; a new one at the end if there is none.
template <class Element>
Element& find_or_add(std::list<Element>& list, std::string Element::*name, const std::string& wanted) {
  const auto found = std::ranges::find(list, wanted, name);
  return found != list.end() ? *found : list.emplace_back(Element{wanted});
}

// One of each in turn.
template <class Element>
std::vector<Element> interleaved(const std::vector<std::vector<Element>>& lists) {
  std::vector<Element> all;
  size_t longest = 0;
  for (const auto& list : lists) longest = std::max(longest, list.size());
  for (size_t round = 0; round < longest; ++round)
    for (const auto& list : lists)
      if (round < list.size()) all.push_back(list[round]);
  return all;
}

}  // namespace

size_t FairQueue::Peer::waiting() const {
  size_t count = 0;
  for (const Line& line : lines) count += line.entries.size();
  return count;
}

std::optional<uint64_t> FairQueue::push(QueuedWork work) {
  const std::scoped_lock lock(mutex_);
  if (closed_ || waiting_ >= limits_.waiting) return {};
  Peer& peer = find_or_add(peers_, &Peer::address, work.client.peer);
  Line& line = find_or_add(peer.lines, &Line::name, work.client.name);
  if (peer.waiting() >= limits_.waiting_of_peer || line.entries.size() >= limits_.waiting_of_client) {
    remove_empty();
    return {};
  }
  line.entries.push_back({.ticket = ++last_ticket_, .work = std::move(work)});
  ++waiting_;
  arrived_.notify_one();
  return last_ticket_;
}

void FairQueue::remove_empty() {
  for (Peer& peer : peers_) std::erase_if(peer.lines, [](const Line& line) { return line.entries.empty(); });
  std::erase_if(peers_, [](const Peer& peer) { return peer.lines.empty(); });
}

void FairQueue::cancel(uint64_t ticket) {
  const std::scoped_lock lock(mutex_);
  if (running_ && running_->entry.ticket == ticket) running_->cancelled = true;
  for (Peer& peer : peers_)
    for (Line& line : peer.lines)
      waiting_ -= std::erase_if(line.entries, [&](const Entry& entry) { return entry.ticket == ticket; });
  remove_empty();
}

// Whose turn it was goes to the end, the peer and its client.
FairQueue::Entry FairQueue::take_entry() {
  peers_.splice(peers_.end(), peers_, peers_.begin());
  std::list<Line>& lines = peers_.back().lines;
  lines.splice(lines.end(), lines, lines.begin());
  Entry entry = std::move(lines.back().entries.front());
  lines.back().entries.pop_front();
  --waiting_;
  remove_empty();
  return entry;
}

std::shared_ptr<FairQueue::Running> FairQueue::take_next(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  arrived_.wait_for(lock, at_most, [&] { return closed_ || waiting_ > 0; });
  if (closed_ || waiting_ == 0) return {};
  running_ = std::make_shared<Running>();
  running_->entry = take_entry();
  return running_;
}

Turn FairQueue::turn_of(const std::shared_ptr<Running>& running) const {
  const double limit = limits_.seconds;
  Turn turn{.waited_s = seconds_since(running->entry.since)};
  turn.control.cancelled = [running, limit] {
    return running->cancelled || seconds_since(running->since) > limit;
  };
  turn.control.progress = [running](const ProgressUpdate& update) {
    if (update.total != running->total || update.done < running->done) running->counting_since = Clock::now();
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
  const QueuedWork& work = running->entry.work;
  const auto [usual, is_first] = usual_seconds_.try_emplace({work.kind, work.model}, seconds);
  if (!is_first) usual->second = (1 - kNewest) * usual->second + kNewest * seconds;
  running_.reset();
  return true;
}

// As they will be taken if nothing else arrives.
std::vector<const FairQueue::Entry*> FairQueue::in_order() const {
  std::vector<std::vector<const Entry*>> by_peer;
  for (const Peer& peer : peers_) {
    std::vector<std::vector<const Entry*>> by_client;
    for (const Line& line : peer.lines)
      for (auto& entries = by_client.emplace_back(); const Entry& entry : line.entries)
        entries.push_back(&entry);
    by_peer.push_back(interleaved(by_client));
  }
  return interleaved(by_peer);
}

// Of what has not been computed yet, as long as the others on average.
std::optional<double> FairQueue::usual_seconds(const QueuedWork& work) const {
  if (usual_seconds_.empty()) return {};
  const auto found = usual_seconds_.find({work.kind, work.model});
  if (found != usual_seconds_.end()) return found->second;
  double sum = 0;
  for (const auto& [kind, seconds] : usual_seconds_) sum += seconds;
  return sum / static_cast<double>(usual_seconds_.size());
}

// By what it has counted so far; before that, by what others of its kind took.
std::optional<double> FairQueue::seconds_left(const Running& running) const {
  const auto done = static_cast<double>(running.done), total = static_cast<double>(running.total);
  if (done > 0 && total > 0) return seconds_since(running.counting_since) * (total - done) / done;
  const std::optional<double> usual = usual_seconds(running.entry.work);
  return usual ? std::optional(std::max(*usual - seconds_since(running.since), 0.0)) : std::nullopt;
}

QueueStatus FairQueue::status() const {
  const std::scoped_lock lock(mutex_);
  QueueStatus status;
  std::optional<double> expected = 0;
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
    expected = seconds_left(*running_);
  }
  for (const Entry* entry : in_order()) {
    status.waiting.push_back({.ticket = entry->ticket,
                              .client = entry->work.client,
                              .kind = entry->work.kind,
                              .model = entry->work.model,
                              .place = status.waiting.size() + 1,
                              .waited_s = seconds_since(entry->since),
                              .expected_s = expected});
    const std::optional<double> usual = usual_seconds(entry->work);
    expected = expected && usual ? std::optional(*expected + *usual) : std::nullopt;
  }
  return status;
}

void FairQueue::close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  peers_.clear();
  waiting_ = 0;
  if (running_) running_->cancelled = true;
  arrived_.notify_all();
}

}  // namespace sluice::serve
