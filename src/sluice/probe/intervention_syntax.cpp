// Reading interventions as people write them: "layers.3.attn.gate scale=0.5 heads=0,2".
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "sluice/base/error.h"
#include "sluice/base/suggest.h"
#include "sluice/nn/tap_points.h"
#include "sluice/probe/intervention.h"
#include "sluice/probe/tap_presence.h"

namespace sluice {
namespace {

struct Word {
  std::string_view name, value;  // "scale=0.5"; no value: empty
};

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) return words;
    const std::string_view word = text.substr(0, text.find(' '));
    const size_t equals = word.find('=');
    words.push_back({word.substr(0, equals),
                     equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1)});
    text.remove_prefix(word.size());
  }
}

double amount_of(const Word& word) {
  double amount = 0.0;
  const char* end = word.value.data() + word.value.size();
  const auto [stop, problem] = std::from_chars(word.value.data(), end, amount);
  // Values are f32: what is beyond them would be infinite there.
  const bool is_number = !word.value.empty() && problem == std::errc() && stop == end;
  if (!is_number || !(std::abs(amount) <= std::numeric_limits<float>::max())) {
    throw usage_error(
        {.what = fmt::format("bad {}", word.name),
         .expected = fmt::format("a number{}, {}=0.5",
                                 is_number && std::isfinite(amount) ? " that f32 has" : "", word.name),
         .got = fmt::format("\"{:.40}\"", word.value)});
  }
  return amount;
}

uint64_t seed_of(std::string_view text, const Word& word, std::string_view example) {
  uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, seed);
  if (problem != std::errc() || stop != end) {
    throw usage_error({.what = fmt::format("bad {}", word.name),
                       .expected = fmt::format("a seed, {}", example),
                       .got = fmt::format("\"{:.40}\"", word.value)});
  }
  return seed;
}

// noise=0.1 or noise=0.1,7
void read_noise(const Word& word, Intervention& intervention) {
  const size_t comma = std::min(word.value.find(','), word.value.size());
  intervention.change = Change::Noise;
  intervention.amount = amount_of({word.name, word.value.substr(0, comma)});
  if (intervention.amount < 0) {
    throw usage_error({.what = "bad noise",
                       .expected = "how large it is beside the value, noise=0.1",
                       .got = fmt::format("\"{:.40}\"", word.value)});
  }
  if (comma < word.value.size())
    intervention.seed = seed_of(word.value.substr(comma + 1), word, "noise=0.1,7");
}

void read_change(const Word& word, Intervention& intervention) {
  static const std::vector<std::string> names = {
      "set",        "scale",   "shift",  "mean",  "head-mean", "layer-mean", "overall-mean", "level",
      "head-level", "shuffle", "invert", "noise", "heads",     "channels",   "experts",      "positions"};
  const auto numeric = [&](Change change) {
    intervention.change = change;
    intervention.amount = amount_of(word);
  };
  const auto plain = [&](Change change) {
    intervention.change = change;
    if (!word.value.empty())
      throw usage_error(
          {.what = fmt::format("{} takes no value", word.name), .got = std::string(word.value)});
  };
  if (word.name == "set") return numeric(Change::Set);
  if (word.name == "scale") return numeric(Change::Scale);
  if (word.name == "shift") return numeric(Change::Shift);
  if (word.name == "mean") return plain(Change::Mean);
  if (word.name == "head-mean") return plain(Change::HeadMean);
  if (word.name == "layer-mean") return plain(Change::LayerMean);
  if (word.name == "overall-mean") return plain(Change::OverallMean);
  if (word.name == "level") return numeric(Change::Level);
  if (word.name == "head-level") return numeric(Change::HeadLevel);
  if (word.name == "invert") return plain(Change::Invert);
  if (word.name == "shuffle") {
    intervention.change = Change::Shuffle;
    if (!word.value.empty()) intervention.seed = seed_of(word.value, word, "shuffle=1");
    return;
  }
  if (word.name == "noise") return read_noise(word, intervention);
  throw usage_error({.what = fmt::format("unknown change \"{}\"", word.name),
                     .expected = "set=X, scale=X, shift=X, invert, noise=X, mean, head-mean, layer-mean, "
                                 "overall-mean, level=X, head-level=X or shuffle",
                     .hint = did_you_mean(word.name, names)});
}

// `seen` are the names so far.
bool read_choice(const Word& word, Intervention& intervention, std::set<std::string_view>& seen) {
  IndexSet* set = word.name == "heads"       ? &intervention.heads
                  : word.name == "channels"  ? &intervention.channels
                  : word.name == "experts"   ? &intervention.experts
                  : word.name == "positions" ? &intervention.positions
                                             : nullptr;
  if (set == nullptr) return false;
  if (!seen.insert(word.name).second)
    throw usage_error({.what = fmt::format("{}= is there twice", word.name)});
  *set = IndexSet::parse(word.value);
  return true;
}

// Heads, channels and experts of a tap's value; no experts: 1.
struct TapSize {
  int64_t heads, channels, experts = 1;
};

// The gates at a point, in layers that the pattern means.
std::vector<const GateSpec*> gates_at(std::string_view point, const TapPattern& tap,
                                      const ModelConfig& config) {
  std::vector<const GateSpec*> gates;
  for (const GateSpec& gate : config.gates) {
    bool meant = false;
    for (int64_t layer = 0; layer < config.layers; ++layer)
      meant = meant || (gate.in_layer(layer) && tap.layers().contains(layer));
    if (meant && gate.position->tap.name == point) gates.push_back(&gate);
  }
  return gates;
}

// Headwise in some layers and elementwise in others: as many channels as one of them has.
TapSize size_of_gates(const std::vector<const GateSpec*>& gates, const BlockSizes& sizes) {
  TapSize size{sizes.gated_heads(gates.front()->position), 0};
  for (const GateSpec* gate : gates)
    size.channels = std::max(size.channels, sizes.score_count(*gate) / size.heads);
  return size;
}

TapSize size_of_tap(const TapPoint& point, const TapPattern& tap, const ModelConfig& config) {
  switch (point.axes) {
    case TapAxes::Hidden:
      return {1, config.hidden};
    case TapAxes::QueryHeads:
      return {config.heads, config.head_dim};
    case TapAxes::KeyValueHeads:
      return {config.kv_heads, config.head_dim};
    case TapAxes::Gate:
      return size_of_gates(gates_at(point, tap, config), config.sizes());
    case TapAxes::PerHead:
    case TapAxes::Probabilities:
      return {config.heads, 1};
    case TapAxes::Vocabulary:
      return {1, config.vocabulary};
    case TapAxes::Experts:
      return {1, 1, config.moe ? config.moe->experts : 0};
    case TapAxes::ExpertOutputs:
      return {1, config.hidden, config.moe ? config.moe->experts : 0};
    case TapAxes::Token:
      return {1, 1};
  }
  return {0, 0};
}

void check_index(std::string_view what, const IndexSet& set, int64_t count) {
  if (set.largest() < count) return;
  throw usage_error({.what = fmt::format("no such {}", what),
                     .expected = fmt::format("0 to {}", count - 1),
                     .got = std::to_string(set.largest())});
}

bool has_experts(const TapPoint& point) {
  return point.axes == TapAxes::Experts || point.axes == TapAxes::ExpertOutputs;
}

bool has_heads(const TapPoint& point) {
  return point.axes != TapAxes::Hidden && point.axes != TapAxes::Vocabulary && point.axes != TapAxes::Token &&
         !has_experts(point);
}

// A choice among what the tap has one of, or nothing at all, would pass for a choice and be none.
void check_has_axes(const TapPoint& point, const TapSize& size, const std::set<std::string_view>& choices) {
  const bool experts = has_experts(point);
  if (choices.contains("heads") && !has_heads(point)) {
    throw usage_error({.what = fmt::format("{} has no heads to choose from", point.name),
                       .hint = experts ? "experts= and positions= are what it has"
                                       : "channels= and positions= are what it has"});
  }
  if (choices.contains("experts") && !experts) {
    throw usage_error({.what = fmt::format("{} has no experts to choose from", point.name),
                       .hint = "mlp.router and mlp.expert_out have some"});
  }
  if (choices.contains("channels") && (has_heads(point) || experts) && size.channels == 1) {
    const char* owner = experts ? "expert" : "head";
    throw usage_error({.what = fmt::format("{} has one value per {}, no channels", point.name, owner),
                       .hint = fmt::format("{}s= and positions= are what it has", owner)});
  }
}

// An intervention that changes nothing because the model has no such thing would pass for one without effect.
void check(const Intervention& intervention, const std::set<std::string_view>& choices,
           const ModelConfig& config) {
  check_index("layer", intervention.tap.layers(), config.layers);
  bool present = false;
  for (const TapPoint& point : points::kAll) {
    if (!intervention.tap.matches_point(point)) continue;
    if (point.access == TapAccess::ReadOnly) {
      throw usage_error({.what = fmt::format("{} can only be read", point.name),
                         .hint = point.axes == TapAxes::Experts ? "mlp.router is what experts are chosen by"
                                                                : "attn.mixed is what attention makes"});
    }
    if (!has_point(point, intervention.tap, config)) continue;
    present = true;
    const TapSize size = size_of_tap(point, intervention.tap, config);
    check_has_axes(point, size, choices);
    check_index(fmt::format("head of {}", point.name), intervention.heads, size.heads);
    check_index(fmt::format("channel of {}", point.name), intervention.channels, size.channels);
    check_index(fmt::format("expert of {}", point.name), intervention.experts, size.experts);
  }
  if (present) return;
  throw usage_error({.what = missing_point(intervention.tap, config)});
}

}  // namespace

Intervention parse_intervention(std::string_view text, const ModelConfig& config) try {
  const std::vector<Word> words = words_of(text);
  if (words.size() < 2) throw usage_error({.expected = "a tap and a change: layers.3.attn.gate set=1"});
  Intervention intervention{.tap = TapPattern(words.front().name)};
  int changes = 0;
  std::set<std::string_view> choices;
  for (const Word& word : std::span(words).subspan(1)) {
    if (read_choice(word, intervention, choices)) continue;
    read_change(word, intervention);
    ++changes;
  }
  if (changes != 1) throw usage_error({.what = "one change is needed", .got = std::to_string(changes)});
  check(intervention, choices, config);
  return intervention;
} catch (const Error& error) {
  throw error.inside(fmt::format("intervention \"{:.80}\"", text));
}

bool has_what_is_changed(std::string_view text, const ModelConfig& config) {
  const std::vector<Word> words = words_of(text);
  const TapPattern tap(words.empty() ? text : words.front().name);
  return tap.layers().largest() < config.layers &&
         std::ranges::any_of(points::kAll, [&](const TapPoint& point) {
           return tap.matches_point(point) && has_point(point, tap, config);
         });
}

std::vector<Intervention> parse_interventions(std::span<const std::string> texts, const ModelConfig& config) {
  std::vector<Intervention> interventions;
  for (const std::string& text : texts) interventions.push_back(parse_intervention(text, config));
  return interventions;
}

}  // namespace sluice
