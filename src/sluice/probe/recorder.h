// A probe that keeps what passes the taps it is interested in, and changes nothing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sluice/probe/tap_pattern.h"

namespace sluice {

class Recorder : public Probe {
 public:
  explicit Recorder(std::vector<TapPattern> patterns) : patterns_(std::move(patterns)) {}

  bool wants(const TapName& name) const override;
  Tensor visit(const Context& context, const TapName& name, const Tensor& value) override;

  // By layer, then by point; of each tap in the order of visits.
  using Values = std::map<std::pair<int64_t, std::string>, std::vector<Tensor>>;
  const Values& values() const { return values_; }

  // Of one tap; empty if the tap was never passed.
  const std::vector<Tensor>& at(const TapName& name) const;

 private:
  std::vector<TapPattern> patterns_;
  Values values_;
};

}  // namespace sluice
