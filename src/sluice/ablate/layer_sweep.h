// One chunk through the layers, once for the unbroken model and for all runs: at each layer those runs join
// that change something there for the first time, and go on from what the unbroken model has computed before
// it.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "sluice/ablate/run_batch.h"
#include "sluice/ablate/run_entry.h"
#include "sluice/base/job_control.h"
#include "sluice/base/threads.h"
#include "sluice/model/decoder.h"
#include "sluice/text/vocabulary.h"

namespace sluice {

// A run on its way. The unbroken model is one without changes.
struct SweptRun {
  const std::vector<Intervention>* changes = nullptr;
  RunEntry entry = {};
  LayerSigns signs = LayerSigns();
  Tensor stream = {};  // [T, D], before the layer that comes next; undefined until the run has begun
};

enum class Signs { Left, Measured };

class LayerSweep {
 public:
  struct Text {
    std::span<const TokenId> ids;  // that are fed
    int64_t chunk = 0;             // their number in the text
    Signs signs = Signs::Measured;
  };
  // The context keeps packed weights and has no probe.
  LayerSweep(const Context& context, const Decoder& decoder, const Text& text, const JobControl& control);

  // Where the unbroken model's stream is kept while it passes: before these layers.
  void keep_before(int64_t layer) { kept_[layer] = {}; }
  const Tensor& kept_before(int64_t layer) const { return kept_.at(layer); }

  // The tokens' embeddings, as the run changes them.
  Tensor embedded(SweptRun& run) const;

  // The unbroken model through the given layers, from its stream before the first of them; the runs from
  // where they begin to the end. A run may begin in one of these layers, at the embedding if they start with
  // the first, or behind them all.
  void run(SweptRun& base, std::span<SweptRun> runs, Range base_layers);

 private:
  struct Entrants;
  void pass_base(SweptRun& base, Entrants& entrants, int64_t layer);
  const Pass& pass_of(int64_t sequences);
  RunBatch::Member member(SweptRun& run) const;

  // body(context, call, sequences) → stream behind the layer, for some runs at a time whose products may be
  // computed together.
  template <class Body>
  void each_batch(std::span<SweptRun* const> runs, int64_t layer, const Body& body);
  void pass_layer(std::span<SweptRun* const> runs, int64_t layer);

  const Context context_;
  const Decoder& decoder_;
  const Text text_;
  const JobControl& control_;
  int64_t together_;                // runs in one batch, at most
  std::map<int64_t, Pass> passes_;  // by the number of sequences
  std::map<int64_t, Tensor> kept_;  // [T, D], by layer
};

}  // namespace sluice
