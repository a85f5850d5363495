// The decoder: embedding, blocks, final norm, output layer. Const in use: several passes without a tape, also
// on several threads, may share one.
#pragma once

#include <span>
#include <vector>

#include "sluice/base/random.h"
#include "sluice/model/config.h"
#include "sluice/model/initialisation.h"
#include "sluice/nn/block.h"

namespace sluice {

class Decoder {
 public:
  // Parameters have names and shapes but no values yet: initialise() or a checkpoint gives them.
  explicit Decoder(ModelConfig config);
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  const ModelConfig& config() const { return config_; }
  int64_t layers() const { return static_cast<int64_t>(blocks_.size()); }
  const Block& block(int64_t layer) const { return blocks_[static_cast<size_t>(layer)]; }

  // In the order of a checkpoint. The output layer is left out if it is tied.
  const std::vector<NamedParameter>& parameters() const { return parameters_; }
  const Parameter& embedding_weight() const { return embedding_; }
  const Parameter& output_weight() const { return config_.tied ? embedding_ : head_; }

  void initialise(Engine& engine, const Random& random, const Initialisation& start = {});

  // What passes with Packing::Keep left behind.
  void drop_packed_weights() const;

  // Room for a sequence that grows to `capacity` tokens.
  DecoderState make_state(const Context& context, int64_t capacity) const;

  // ids [N] through the whole model up to the final norm: y is [N, D]. With a state they go on behind its
  // tokens, and it takes them in; there is one sequence then.
  LayerOutput forward(const Context& context, std::span<const int32_t> ids, const Sequences& sequences,
                      DecoderState* state = nullptr) const;

  // Of one sequence.
  LayerOutput forward(const Context& context, std::span<const int32_t> ids,
                      DecoderState* state = nullptr) const;

  // The same in its parts. A pass that begins is told to the context's probe.
  Pass begin(const Context& context, const Sequences& sequences, DecoderState* state = nullptr) const;
  Var embed(const Context& context, std::span<const int32_t> ids) const;
  LayerOutput run(const Context& context, const Var& x, const Pass& pass, Range layers) const;
  Var finish(const Context& context, const Var& x) const;
  // When all layers have run: the state, if there is one, takes the tokens in.
  void end(const Pass& pass) const;

  // [N, D] → [N, V]
  Var logits(const Context& context, const Var& hidden) const;

 private:
  LayerOutput run_layer(const Context& context, const Var& x, const Pass& pass, int64_t layer) const;

  ModelConfig config_;
  Parameter embedding_, head_;
  std::vector<Block> blocks_;
  Norm final_norm_;
  std::vector<NamedParameter> parameters_;
};

}  // namespace sluice
