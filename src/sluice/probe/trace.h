// Everything of one forward pass: for comparing implementations, and for looking at any value by name.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/infer/loaded_model.h"
#include "sluice/probe/intervention.h"

namespace sluice {

// Shapes: L layers, T tokens, D hidden, H heads, V vocabulary. All f32.
struct Trace {
  Tensor logits;  // [T, V]
  Tensor hidden;  // [L + 1, T, D]: the embedding, then each block's output before the final norm
  Tensor attn;    // [layers with attention, H, T, T]; undefined without any
  Tensor gates;   // [gated layers, T, H, hd] (all headwise: 1 instead of hd); undefined without a g1 gate
  std::vector<int64_t> attention_layers, gate_layers;  // that those two are of
};

// A probe of the context sees, and may change, every value before it is kept here.
Trace trace(const Context& context, const Decoder& decoder, std::span<const TokenId> ids,
            const JobControl& control = {});

struct TraceRequest {
  std::vector<TokenId> ids;
  std::vector<std::string> captures = {};  // tap patterns: what to keep besides
  std::vector<Intervention> interventions = {};
};

struct CapturedTrace {
  std::vector<TokenId> ids;
  Trace trace;
  std::vector<std::pair<std::string, Tensor>> captures;  // by the name of the tap
};

// The ids, and the shape of every tensor by its name.
nlohmann::ordered_json to_json(const CapturedTrace& traced);
std::string to_text(const CapturedTrace& traced);

// Usage error if a capture fits no tap of the model or an intervention met no token.
CapturedTrace trace(const LoadedModel& model, const TraceRequest& request, const JobControl& control = {});

// All tensors by name, as a file has them.
std::vector<std::pair<std::string, Tensor>> tensors_of(const CapturedTrace& traced);

// As f32 tensors of a safetensors file.
void write_trace(const std::filesystem::path& path, const CapturedTrace& traced);

// A trace and the file that has it.
struct WrittenTrace {
  std::filesystem::path out;
  CapturedTrace traced;
};

nlohmann::ordered_json to_json(const WrittenTrace& written);
std::string to_text(const WrittenTrace& written);

}  // namespace sluice
