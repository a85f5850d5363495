// The decoder: embedding, blocks, final norm, output layer.
#pragma once

#include <vector>

#include "sluice/base/random.h"
#include "sluice/model/config.h"
#include "sluice/nn/attention.h"
#include "sluice/ops/recompute.h"

namespace sluice {

struct DecoderBlock {
  Norm attention_norm, mlp_norm;
  Norm attention_out_norm, mlp_out_norm;  // sandwich norm
  AttentionLayer attention;
  Mlp mlp;
};

// What a parameter is for; training and conversion treat them differently.
enum class ParameterRole { Matrix, Norm, Bias, GateConstant };

// A parameter with the name under which checkpoints know it, gates stored as tensors of their own.
struct NamedParameter {
  Parameter* parameter;
  Shape shape;
  ParameterRole role = ParameterRole::Matrix;
  // How training starts: normal with this standard deviation around `mean`.
  double std = 0.0;
  double mean = 0.0;
};

// Caches of all layers.
using KvCaches = std::vector<KvCache>;

class Decoder {
 public:
  // Parameters have names and shapes but no values yet: initialise() or a checkpoint gives them.
  explicit Decoder(ModelConfig config);
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  const ModelConfig& config() const { return config_; }

  // In the order of a checkpoint. The output layer is left out if it is tied.
  const std::vector<NamedParameter>& parameters() const { return parameters_; }

  void initialise(Engine& engine, const Random& random);

  // Whether blocks keep their intermediates for the gradient or compute them again; the values are the same.
  void set_activations(Activations activations) { activations_ = activations; }

  // Positions of sequences that start at `past`.
  Placement place(const Context& context, const Sequences& sequences, int64_t past = 0);

  // ids [N] (i32) → the final norm's output [N, D]. Caches, if given, one per layer.
  Var hidden(const Context& context, const Tensor& ids, const Placement& placement,
             KvCaches* caches = nullptr);

  // [N, D] → [N, V]
  Var logits(const Context& context, const Var& hidden);

  const Parameter& embedding_weight() const { return embedding_; }
  Parameter& output_weight() { return config_.tied ? embedding_ : head_; }

 private:
  Var block(const Context& context, int64_t layer, const Var& x, const Placement& placement, KvCache* cache);

  ModelConfig config_;
  Parameter embedding_, head_;
  std::vector<DecoderBlock> blocks_;
  Norm final_norm_;
  Activations activations_ = Activations::Keep;
  RopeTable rope_;  // as many positions as have been asked for so far
  std::vector<NamedParameter> parameters_;
};

}  // namespace sluice
