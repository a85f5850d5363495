// Putting another value in the place of an intermediate one: at chosen taps, for chosen heads, channels and
// positions.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/model/config.h"
#include "sluice/probe/tap_pattern.h"

namespace sluice {

enum class Change {
  Set,      // to `amount`
  Scale,    // by `amount`
  Shift,    // by `amount`
  Mean,     // each channel's mean over the tokens of its sequence: keeps the level, removes the pattern
  Shuffle,  // the tokens of a sequence change places: keeps the distribution, removes the alignment
  Invert,   // 1 - value
};

struct Intervention {
  TapPattern tap;
  Change change = Change::Set;
  double amount = 0.0;
  uint64_t seed = 0;  // of Shuffle
  IndexSet heads = {}, channels = {}, experts = {}, positions = {};

  bool needs_all_tokens() const { return change == Change::Mean || change == Change::Shuffle; }
};

// "TAP CHANGE [heads=SET] [channels=SET] [experts=SET] [positions=SET]" with CHANGE one of set=X, scale=X,
// shift=X, mean, shuffle, shuffle=SEED, invert. Usage error if it is not that, or names what the model does
// not have.
Intervention parse_intervention(std::string_view text, const ModelConfig& config);
std::vector<Intervention> parse_interventions(std::span<const std::string> texts, const ModelConfig& config);

// Applies interventions in their order.
class Intervener : public Probe {
 public:
  explicit Intervener(std::vector<Intervention> interventions) : interventions_(std::move(interventions)) {}

  // Whether one of them is meaningless for a part of a text.
  bool needs_all_tokens() const {
    return std::ranges::any_of(interventions_, &Intervention::needs_all_tokens);
  }

  // Usage error if so: for whoever runs a text token by token.
  void check_needs_no_later_tokens() const;

  // Usage error if one of them has met no token so far: its positions lie beyond the text.
  void check_effect() const;

  void begin_pass(const PassTokens& tokens) override;
  bool wants(const TapName& name) const override;
  Tensor visit(const Context& context, const TapName& name, const Tensor& value) override;

 private:
  std::vector<Intervention> interventions_;
  std::vector<bool> met_ = std::vector<bool>(interventions_.size());  // a token that it changes
  Sequences sequences_;
  int64_t past_ = 0;
};

}  // namespace sluice
