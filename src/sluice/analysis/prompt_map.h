// One prompt token by token: gates, surprise, and how much attention each token gets, by layer and head.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/infer/loaded_model.h"
#include "sluice/probe/intervention.h"

namespace sluice {

struct AttentionMap {
  int64_t layer = 0;
  std::optional<int64_t> head = {};  // none: the mean over heads
  std::vector<float> values = {};    // [T, T]: query, key
};

// Attention of so many tokens is drawn at most: what is kept grows with their square.
constexpr size_t kMaxPromptTokens = 1024;

struct PromptMapRequest {
  std::vector<TokenId> ids;              // at least one
  std::vector<int64_t> map_layers = {};  // whose attention is kept as maps
  bool map_heads = false;                // of every head instead of their mean
  std::vector<Intervention> interventions = {};
  Packing packing = Packing::Once;  // Keep: if the model keeps its weights packed already
};

struct PromptLayer {
  int64_t layer = 0;
  int64_t heads = 0;
  std::vector<float> gates = {};     // [T, heads] of the gate at g1, elementwise ones as means; empty: none
  std::vector<float> received = {};  // [T]: mean probability of the queries that see the token, over heads
};

struct PromptMap {
  std::vector<TokenId> ids = {};
  std::vector<std::string> tokens = {};  // their text; empty if the model has no tokenizer
  std::vector<float> surprise = {};      // [T], nats; NaN for the first
  std::vector<PromptLayer> layers = {};
  std::vector<AttentionMap> maps = {};

  bool has_gates() const;
};

nlohmann::ordered_json to_json(const PromptMap& map);

// A usage error if the prompt is too long.
PromptMap map_prompt(const LoadedModel& model, const PromptMapRequest& request,
                     const JobControl& control = {});

// Up to `count` layers spread evenly from the second to the last, as the paper's figure has them: of 28
// layers 1, 10, 18 and 27.
std::vector<int64_t> spread_layers(int64_t layers, int64_t count = 4);

}  // namespace sluice
