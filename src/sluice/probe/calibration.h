// What interventions take from a text of its own: means of values, and whole values of other sequences. From
// the text that is changed they could only come by looking at tokens that a causal model must not see yet.
//
// Shapes: T tokens, H heads, C channels of each. A value without heads has one.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/model/decoder.h"
#include "sluice/probe/intervention.h"
#include "sluice/text/vocabulary.h"

namespace sluice {

// Of one tap, over all tokens of the calibration text, in the unbroken model.
struct CalibratedTap {
  int64_t tokens = 0;
  int64_t heads = 0, channels = 0;
  std::vector<double> sums = {};    // [H · C]
  std::vector<Tensor> donors = {};  // [T, H, C] each, f32: what whole sequences had here

  double mean(int64_t element) const;  // of a channel of a head, as an offset into a token's row
  double head_mean(int64_t head) const;
  double layer_mean() const;
};

class Calibration {
 public:
  // Null if the tap was not collected.
  const CalibratedTap* find(const TapName& name) const;

  // The mean over all layers that have the point.
  double overall_mean(std::string_view point) const;

  int64_t sequences() const { return sequences_; }
  int64_t tokens() const { return tokens_; }

 private:
  friend class CalibrationCollector;
  std::map<std::pair<int64_t, std::string>, CalibratedTap> taps_;
  int64_t sequences_ = 0, tokens_ = 0;
};

struct CalibrationRequest {
  std::span<const Intervention> interventions;      // what they need is collected, and nothing else
  std::span<const std::vector<TokenId>> sequences;  // of the calibration text
  int64_t donors = 8;                               // sequences whose values are kept, at most
  // That they may take if all layers keep them at this point, so that their number does not depend on what
  // else is asked for. One is always kept.
  int64_t donor_bytes = int64_t{1} << 30;
};

// One pass over each sequence. Usage error if there is none.
std::shared_ptr<const Calibration> calibrate(const Context& context, const Decoder& decoder,
                                             const CalibrationRequest& request,
                                             const JobControl& control = {});

// Gives it to those that need one.
void give_calibration(std::span<Intervention> interventions,
                      const std::shared_ptr<const Calibration>& calibration);

}  // namespace sluice
