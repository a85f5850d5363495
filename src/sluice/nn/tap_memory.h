// A probe for blocks that are computed twice (ops/recompute.h): the first time it asks the real probe and
// keeps what that put in the place of a value; the second time it does the same again by itself, so that the
// real one sees every tap once.
#pragma once

#include <map>
#include <string>

#include "sluice/nn/tap.h"

namespace sluice {

class TapMemory : public Probe {
 public:
  explicit TapMemory(Probe& probe) : probe_(&probe) {}

  // The block has been computed: from now on it is repeated.
  void repeat_from_now_on() { probe_ = nullptr; }

  bool wants(const TapName& name) const override;
  Tensor visit(const Context& context, const TapName& name, const Tensor& value) override;

 private:
  Probe* probe_;  // none: repeating
  // What was wanted, and what took its place if anything did.
  std::map<std::string, Tensor> replaced_;
};

}  // namespace sluice
