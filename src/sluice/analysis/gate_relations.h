// What goes with an open gate: for each head the correlation of the gate with properties of the token, and
// the tokens at which it is most open and most closed.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/analysis/moments.h"
#include "sluice/text/vocabulary.h"

namespace sluice {

// What a gate may go with.
enum class GateRelation {
  // Of the same query and head, on the key that is watched: do gates close over the sink? Without the first
  // four queries that see it, whose attention lies there because there are few keys.
  KeyAttention,
  ValueNorm,  // of what the gate is applied to
  Surprise,   // how unlikely the model found the token, nats
  Frequency,  // ln of how often the token is in the text
  Position,   // in the sequence
  Count
};
inline constexpr auto kGateRelations = static_cast<size_t>(GateRelation::Count);
std::string_view name_of(GateRelation relation);  // "key_attention"
std::string words_of(GateRelation relation);      // "attention on the key"

// One token of the text at which a head's gate had a value.
struct GateMoment {
  double gate = 0;
  TokenId token = 0;
  int64_t sequence = 0, position = 0;
  std::string context = {};  // the tokens around it as text, the token itself in brackets; filled in later
};

// The most open or the most closed moments of a head, at most so many, each of another token.
class GateExtremes {
 public:
  static constexpr size_t kKept = 5;

  enum class Kind { Open, Closed };
  explicit GateExtremes(Kind kind) : kind_(kind) {}

  // Whether a moment with this gate may be among them.
  bool may_want(double gate) const {
    return moments_.size() < kKept ||
           (kind_ == Kind::Open ? gate >= moments_.back().gate : gate <= moments_.back().gate);
  }
  void offer(const GateMoment& moment);
  void add(const GateExtremes& other);
  const std::vector<GateMoment>& moments() const { return moments_; }  // the most extreme first
  std::vector<GateMoment>& moments() { return moments_; }

 private:
  // Of equal ones the earlier, so that the order of offers does not matter.
  bool beats(const GateMoment& a, const GateMoment& b) const;

  Kind kind_;
  std::vector<GateMoment> moments_;
};

struct GateHeadRelations {
  std::array<JointMoments, kGateRelations> with = {};
  struct Extremes {
    GateExtremes open{GateExtremes::Kind::Open}, closed{GateExtremes::Kind::Closed};
  };
  std::array<Extremes, 2> halves = {};  // of every other sequence
  Extremes extremes = {};               // of both, by merge_halves()

  double correlation(GateRelation relation) const {
    return with[static_cast<size_t>(relation)].correlation();
  }
};

struct GateLayerRelations {
  int64_t layer = 0;
  std::vector<GateHeadRelations> by_head = {};
};

// What is known of the tokens of a sequence.
struct KnownTokens {
  int64_t sequence = 0;
  std::span<const TokenId> ids;
  std::span<const float> surprise;    // [N]; what is NaN does not count
  std::span<const double> frequency;  // [V], ln
  int64_t key = 0;                    // that attention is measured on
};

// And what one layer did with them, [N, heads] each; empty ones are left out.
struct GateContext {
  const KnownTokens& tokens;
  std::span<const float> gates = {}, key_attention = {}, value_norms = {};
};

void add_relations(GateLayerRelations& layer, const GateContext& context);

// When all sequences have passed.
void merge_halves(GateLayerRelations& layer);

}  // namespace sluice
