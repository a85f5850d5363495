// A part of a look as bytes, for another process of the same job: numbers as this kind of machine has them,
// counts of bins that are mostly empty as pairs. One list of members serves writing and reading.
#include <fmt/format.h>

#include <cstring>

#include "sluice/analysis/look_part.h"
#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"

namespace sluice {
namespace {

template <class Value>
concept Number = std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>;

// A type with a list of members below, or in itself.
template <class Value, class Stream>
concept HasOwnMembers = requires(Value& value, Stream& stream) {
  value.pass_members(stream);
};

// What writing and reading have in common: how a value is made of others.
template <class Derived>
class LookStream {
 public:
  template <class... Values>
  void operator()(Values&... values) {
    (pass(values), ...);
  }

 private:
  Derived& self() { return static_cast<Derived&>(*this); }

  template <class Value>
  void pass(Value& value) {
    if constexpr (Number<Value>) {
      self().number(value);
    } else if constexpr (HasOwnMembers<Value, Derived>) {
      value.pass_members(self());
    } else {
      members(self(), value);
    }
  }
  template <class Value>
  void pass(std::vector<Value>& values) {
    // One after the other: room is made for what is there, not for what a file says that it has.
    const uint64_t size = self().count(values.size());
    for (size_t i = 0; i < size; ++i) {
      if (i == values.size()) values.emplace_back();
      pass(values[i]);
    }
  }
  template <class Value, size_t N>
  void pass(std::array<Value, N>& values) {
    for (Value& value : values) pass(value);
  }
  void pass(std::vector<bool>& values) {
    const uint64_t size = self().count(values.size());
    values.resize(size);
    for (size_t i = 0; i < size; ++i) {
      char value = values[i] ? 1 : 0;
      self().number(value);
      values[i] = value != 0;
    }
  }
  template <class Key, class Value>
  void pass(std::map<Key, Value>& values) {
    std::vector<std::pair<Key, Value>> pairs(values.begin(), values.end());
    const uint64_t size = self().count(pairs.size());
    for (size_t i = 0; i < size; ++i) {
      if (i == pairs.size()) pairs.emplace_back();
      (*this)(pairs[i].first, pairs[i].second);
    }
    values = {pairs.begin(), pairs.end()};
  }
  template <class Value>
  void pass(std::set<Value>& values) {
    std::vector<Value> all(values.begin(), values.end());
    pass(all);
    values = {all.begin(), all.end()};
  }
};

class LookWriter : public LookStream<LookWriter> {
 public:
  template <class Value>
  void number(const Value& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(Value));
  }
  uint64_t count(uint64_t size) {
    number(size);
    return size;
  }
  void sparse(const std::vector<int64_t>& counts) {
    number(static_cast<uint64_t>(std::ranges::count_if(counts, [](int64_t count) { return count != 0; })));
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] == 0) continue;
      number(static_cast<uint32_t>(i));
      number(counts[i]);
    }
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class LookReader : public LookStream<LookReader> {
 public:
  LookReader(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  template <class Value>
  void number(Value& value) {
    if (bytes_.size() < sizeof(Value)) refuse("ends too early");
    std::memcpy(&value, bytes_.data(), sizeof(Value));
    bytes_.remove_prefix(sizeof(Value));
  }
  uint64_t count(uint64_t) {
    uint64_t size = 0;
    number(size);
    if (size > bytes_.size()) refuse("says it has more than it can have");  // each takes a byte at least
    return size;
  }
  void sparse(std::vector<int64_t>& counts) {
    uint64_t filled = 0;
    number(filled);
    if (filled > counts.size()) refuse("has more bins than there are");
    for (uint64_t i = 0; i < filled; ++i) {
      uint32_t at = 0;
      number(at);
      if (at >= counts.size()) refuse("has a bin that there is not");
      number(counts[at]);
    }
  }
  void end() const {
    if (!bytes_.empty()) refuse("goes on behind its end");
  }
  [[noreturn]] void refuse(std::string_view what) const {
    throw bad_input({.where = where_, .what = std::string(what), .hint = "delete it: it is done again"});
  }

 private:
  std::string_view bytes_;
  const std::string& where_;
};

template <class Stream>
void members(Stream& stream, Moments& moments) {
  stream(moments.count, moments.sum, moments.squares);
}
template <class Stream>
void members(Stream& stream, JointMoments& moments) {
  stream(moments.x, moments.y, moments.products);
}
template <class Stream>
void members(Stream& stream, ChunkNll& nll) {
  stream(nll.sum, nll.tokens);
}
template <class Stream>
void members(Stream& stream, GateHead& head) {
  stream(head.all, head.first, head.closed);
}
template <class Stream>
void members(Stream& stream, GateUnit& unit) {
  stream(unit.first, unit.others);
}
template <class Stream>
void members(Stream& stream, GateLayer& layer) {
  stream(layer.layer, layer.heads, layer.width, layer.values, layer.first, layer.others, layer.by_head,
         layer.by_position, layer.by_sequence, layer.channels);
}
template <class Stream>
void members(Stream& stream, KeyAttention& key) {
  stream(key.sum, key.late, key.queries, key.late_queries);
}
template <class Stream>
void members(Stream& stream, AttentionHead& head) {
  stream(head.key, head.halves, head.entropy, head.entropies);
}
template <class Stream>
void members(Stream& stream, AttentionLayer& layer) {
  stream(layer.layer, layer.by_head, layer.by_sequence);
}
template <class Stream>
void members(Stream& stream, LargestValue& largest) {
  stream(largest.size, largest.channel, largest.sequence, largest.position);
}
template <class Stream>
void members(Stream& stream, ActivationLayer& layer) {
  stream(layer.layer, layer.largest, layer.by_sequence);
}
template <class Stream>
void members(Stream& stream, SparsityLayer& layer) {
  stream(layer.layer, layer.before, layer.below_before, layer.below_after, layer.values_before,
         layer.values_after);
}
template <class Stream>
void members(Stream& stream, GateMoment& moment) {
  stream(moment.gate, moment.token, moment.sequence, moment.position);
}
template <class Stream>
void members(Stream& stream, GateHeadRelations& head) {
  stream(head.with);
  for (GateHeadRelations::Extremes& half : head.halves) stream(half.open.moments(), half.closed.moments());
}
template <class Stream>
void members(Stream& stream, GateLayerRelations& layer) {
  stream(layer.layer, layer.by_head);
}
template <class Stream>
void members(Stream& stream, ExpertsLayer& layer) {
  stream(layer.layer, layer.tokens, layer.counts, layer.router_entropy_sum);
}
template <class Stream>
void members(Stream& stream, TokenGates& token) {
  stream(token.first, token.others);
}

// Positions and points by their place in their tables.
template <class Stream>
void all_members(Stream& stream, LookPart& part) {
  Look& look = part.sums;
  stream(look.key, look.tokens, look.key_floor, look.late_key_floor, look.chunks);
  for (const GatePositionRow& row : kGatePositionRows) {
    auto found = std::ranges::find(look.gates, row.name, &GateMeasure::position);
    GateMeasure measure{.position = row.name};
    GateMeasure& gate = found == look.gates.end() ? measure : *found;
    stream(gate.layers);
    if (found == look.gates.end() && !measure.layers.empty()) look.gates.push_back(std::move(measure));
  }
  for (size_t i = 0; i < kActivationPoints.size(); ++i) {
    if (i == look.activations.size()) look.activations.push_back({kActivationPoints[i]});
    stream(look.activations[i].layers);
  }
  stream(look.attention, look.sparsity, look.relations, look.experts, look.by_token, part.first_tokens,
         part.met);
}

}  // namespace

std::string bytes_of(LookPart part) {
  LookWriter writer;
  all_members(writer, part);
  return fmt::format("{:08x} ", crc32c(writer.bytes())) + writer.bytes();
}

LookPart part_in(std::string_view bytes, const std::string& where) {
  constexpr size_t kChecksumLength = 8;
  const std::string_view content = bytes.size() <= kChecksumLength ? "" : bytes.substr(kChecksumLength + 1);
  LookReader reader(content, where);
  if (bytes.size() <= kChecksumLength ||
      fmt::format("{:08x}", crc32c(content)) != bytes.substr(0, kChecksumLength))
    reader.refuse("is damaged: its checksum is another");
  LookPart part;
  all_members(reader, part);
  reader.end();
  return part;
}

}  // namespace sluice
