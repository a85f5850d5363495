// Names, shapes and initial values of a decoder's parameters, in the Hugging Face layout.
#pragma once

#include "sluice/base/threads.h"
#include "sluice/model/decoder.h"

namespace sluice {

// Gives parameters their names and appends them to a list.
class ParameterLister {
 public:
  ParameterLister(const ModelConfig& config, std::vector<NamedParameter>& list)
      : config_(config), list_(list) {}

  void add(const std::string& name, Parameter& parameter, const Shape& shape,
           ParameterRole role = ParameterRole::Matrix);
  void add_norm(const std::string& name, Norm& norm, int64_t width);
  void add_block(int64_t layer, DecoderBlock& block);

 private:
  void add_linear(const std::string& name, Linear& linear, const Shape& shape, bool bias);
  void add_attention(const std::string& prefix, int64_t layer, AttentionLayer& attention);
  void add_gate(const std::string& prefix, const GateSpec& spec, AttentionLayer& attention);

  const ModelConfig& config_;
  std::vector<NamedParameter>& list_;
};

// "gate_proj" for g1, "gate_g2_proj" and so on for the others: the module below self_attn.
std::string gate_module(GatePosition position);

// Values that training of a parameter starts from, F32; the same for any number of threads.
Tensor initial_values(MemoryPool& pool, const Threads& threads, const NamedParameter& named,
                      const Random& random);

}  // namespace sluice
