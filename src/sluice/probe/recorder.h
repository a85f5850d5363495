// A probe that keeps what passes the taps it is interested in, and changes nothing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sluice/nn/tap.h"

namespace sluice {

class Recorder : public Probe {
 public:
  // Points as in nn/tap.h, recorded in every layer.
  explicit Recorder(std::vector<std::string_view> points) : points_(std::move(points)) {}

  bool wants(const TapName& name) const override;
  Tensor visit(const Context& context, const TapName& name, const Tensor& value) override;

  // In the order of visits; empty if the tap was never passed.
  const std::vector<Tensor>& at(const TapName& name) const;

 private:
  std::vector<std::string_view> points_;
  std::map<std::pair<int64_t, std::string_view>, std::vector<Tensor>> values_;
};

}  // namespace sluice
