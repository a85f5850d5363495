// Putting another value in the place of an intermediate one: at chosen taps, for chosen heads, channels and
// positions. What a token's value becomes depends on that token, on those before it and on text of its own
// (probe/calibration.h), never on later tokens.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/model/config.h"
#include "sluice/probe/tap_pattern.h"

namespace sluice {

class Calibration;

enum class Change {
  Set,          // to `amount`
  Scale,        // by `amount`
  Shift,        // by `amount`
  Mean,         // each channel's mean over the calibration text: keeps the level, removes the pattern
  HeadMean,     // one mean for all channels of a head
  LayerMean,    // one mean for all heads
  OverallMean,  // one mean for all layers of the model
  Level,        // scaled so that each channel's mean over that text is `amount`: keeps the pattern
  HeadLevel,    // one factor for all channels of a head
  Shuffle,      // what another sequence had at this position: keeps the distribution, removes the alignment
  Invert,       // 1 - value
  Noise,        // itself plus Gaussian noise whose norm is `amount` times its own, over what is chosen
};

struct Intervention {
  TapPattern tap;
  Change change = Change::Set;
  double amount = 0.0;
  uint64_t seed = 0;  // of Shuffle and Noise
  IndexSet heads = {}, channels = {}, experts = {}, positions = {};
  std::shared_ptr<const Calibration> calibration = {};  // null where none is needed

  bool needs_means() const {
    return change == Change::Mean || change == Change::HeadMean || change == Change::LayerMean ||
           change == Change::OverallMean || change == Change::Level || change == Change::HeadLevel;
  }
  bool needs_donors() const { return change == Change::Shuffle; }
  bool needs_calibration() const { return needs_means() || needs_donors(); }

  // Whether the calibration text's value at this tap is needed for it.
  bool takes_from(const TapName& name) const;
};

// "TAP CHANGE [heads=SET] [channels=SET] [experts=SET] [positions=SET]" with CHANGE one of set=X, scale=X,
// shift=X, mean, head-mean, layer-mean, overall-mean, level=X, head-level=X, shuffle, shuffle=SEED, invert,
// noise=X, noise=X,SEED.
// Usage error if it is not that, or names what the model does not have.
Intervention parse_intervention(std::string_view text, const ModelConfig& config);
std::vector<Intervention> parse_interventions(std::span<const std::string> texts, const ModelConfig& config);

// Whether the model has the tap that the text begins with. Usage error if no model has.
bool has_what_is_changed(std::string_view text, const ModelConfig& config);

// The rows of a tap's value that belong to one sequence.
struct SequenceRows {
  TapName name;
  float* first = nullptr;  // [length, heads, channels]
  int64_t length = 0, heads = 1, channels = 0;
  bool has_heads = false;  // or experts, in their place; else the one head is none
  int64_t past = 0;        // the position of the first row
  int64_t sequence = 0;    // its number in the text: draws of Shuffle and Noise depend on it
};

// Changes them in place. Whether there was a token to change.
bool change_rows(const Intervention& intervention, const SequenceRows& rows);

// Usage error if one of them needs calibration text and has none.
void check_calibrated(std::span<const Intervention> interventions);

// Usage error if one of them has met no token: its positions lie beyond the text.
void check_effect(std::span<const Intervention> interventions, const std::vector<bool>& met);

// Applies interventions in their order.
class Intervener : public Probe {
 public:
  // Usage error if one of them needs calibration text and has none.
  explicit Intervener(std::vector<Intervention> interventions);

  // The number of the next pass's first sequence in the text, 0 if nobody says. The same sequence is changed
  // in the same way wherever it stands in a pass.
  void begin_at(int64_t sequence) { first_sequence_ = sequence; }

  // Usage error if one of them has met no token so far: its positions lie beyond the text.
  void check_effect() const;
  const std::vector<bool>& met() const { return met_; }  // by intervention: whether it has met a token

  void begin_pass(const PassTokens& tokens) override;
  bool wants(const TapName& name) const override;
  Tensor visit(const Context& context, const TapName& name, const Tensor& value) override;

 private:
  std::vector<Intervention> interventions_;
  std::vector<bool> met_ = std::vector<bool>(interventions_.size());  // a token that it changes
  Sequences sequences_;
  int64_t past_ = 0;
  int64_t first_sequence_ = 0;
};

}  // namespace sluice
