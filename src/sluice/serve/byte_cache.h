// Values by name, within a bound of memory: what was not used for longest goes first. Safe to use from
// several threads; whoever holds a value keeps it alive.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace sluice::serve {

template <class Value>
class ByteCache {
 public:
  explicit ByteCache(size_t limit) : limit_(limit) {}

  std::shared_ptr<const Value> find(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    const auto found = places_.find(name);
    if (found == places_.end()) return {};
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->value;
  }

  // One that is larger than everything may be is not kept.
  void put(const std::string& name, std::shared_ptr<const Value> value, size_t bytes) {
    const std::scoped_lock lock(mutex_);
    if (const auto found = places_.find(name); found != places_.end()) drop(found->second);
    if (bytes > limit_) return;
    while (bytes_ + bytes > limit_) drop(std::prev(entries_.end()));
    entries_.push_front({name, std::move(value), bytes});
    places_[name] = entries_.begin();
    bytes_ += bytes;
  }

  size_t bytes() const {
    const std::scoped_lock lock(mutex_);
    return bytes_;
  }

 private:
  struct Entry {
    std::string name;
    std::shared_ptr<const Value> value;
    size_t bytes;
  };
  using Place = typename std::list<Entry>::iterator;

  void drop(Place place) {
    bytes_ -= place->bytes;
    places_.erase(place->name);
    entries_.erase(place);
  }

  size_t limit_, bytes_ = 0;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // the one used last is the first
  std::unordered_map<std::string, Place> places_;
};

}  // namespace sluice::serve
