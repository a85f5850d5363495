// A probe for blocks that are computed twice (ops/recompute.h): the first time it asks the real probe and
// keeps what that put in the place of a value; the second time it does the same again by itself, so that the
// real one sees every tap once. Gradients, which there are the second time alone, go to the real one.
#pragma once

#include <map>
#include <string>

#include "sluice/nn/tap.h"

namespace sluice {

class TapMemory : public Probe {
 public:
  explicit TapMemory(Probe& probe) : probe_(&probe) {}

  // The block has been computed: from now on it is repeated.
  void repeat_from_now_on() { repeats_ = true; }

  bool wants(const TapName& name) const override;
  Tensor visit(const Context& context, const TapName& name, const Tensor& value) override;
  bool wants_gradient(const TapName& name) const override;
  Tensor receive(const Context& context, const TapName& name, const TapGradient& at) override;

 private:
  struct Seen {
    Tensor replacement = {};  // undefined: the value was left as it is
    bool wants_gradient = false;
  };

  Probe* probe_;
  bool repeats_ = false;
  std::map<std::string, Seen> seen_;  // what was wanted
};

}  // namespace sluice
