// The probe of a pass in which every sequence is the same chunk in another run: each is changed as its run
// says, and looked at on its way.
#pragma once

#include <cstdint>
#include <vector>

#include "sluice/probe/intervention.h"

namespace sluice {

// What a run shows in each layer of one chunk; NaN where nothing has passed.
struct LayerSigns {
  std::vector<double> sink;        // [layers]: mean over heads and queries of the probability on key 0
  std::vector<double> activation;  // [layers]: largest |block output|

  explicit LayerSigns(int64_t layers = 0);

  // Means over the layers that have one.
  double mean_sink() const;
  double mean_activation() const;
};

class RunBatch : public Probe {
 public:
  struct Member {
    const std::vector<Intervention>* changes = nullptr;  // null: none
    LayerSigns* signs = nullptr;                         // null: not wanted
  };

  // One member per sequence of the pass. `chunk` is the number of the chunk in its text.
  RunBatch(std::vector<Member> members, int64_t chunk) : members_(std::move(members)), chunk_(chunk) {}

  void begin_pass(const PassTokens& tokens) override;
  bool wants(const TapName& name) const override;
  Tensor visit(const Context& context, const TapName& name, const Tensor& value) override;

 private:
  bool changes(const TapName& name) const;
  void change(const TapName& name, const Tensor& value) const;
  void look(const TapName& name, const Tensor& value) const;

  std::vector<Member> members_;
  int64_t chunk_;
  Sequences sequences_;
};

}  // namespace sluice
