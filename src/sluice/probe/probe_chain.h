// Several probes on one pass. Each sees what the one before it left. Gradients are not handed on: a probe
// that wants them is alone on its pass.
#pragma once

#include <algorithm>
#include <vector>

#include "sluice/nn/tap.h"

namespace sluice {

class ProbeChain : public Probe {
 public:
  // Null ones are left out.
  explicit ProbeChain(std::vector<Probe*> probes) : probes_(std::move(probes)) {
    std::erase(probes_, nullptr);
  }

  void begin_pass(const PassTokens& tokens) override {
    for (Probe* probe : probes_) probe->begin_pass(tokens);
  }

  bool wants(const TapName& name) const override {
    return std::ranges::any_of(probes_, [&](const Probe* probe) { return probe->wants(name); });
  }

  Tensor visit(const Context& context, const TapName& name, const Tensor& value) override {
    Tensor current = value;
    for (Probe* probe : probes_) {
      if (probe->wants(name)) current = probe->visit(context, name, current);
    }
    return current;
  }

 private:
  std::vector<Probe*> probes_;
};

}  // namespace sluice
