// One prompt seen through a model, for somebody who looks at it closely: figures by token, layer and head,
// small pictures of every head, and the residual stream before each layer, from which the large values of any
// one layer can be had again without another pass.
//
// Shapes: T tokens, H heads, D hidden, w values of a gate per head.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sluice/analysis/attention_measure.h"
#include "sluice/analysis/prompt_thumbnail.h"
#include "sluice/base/job_control.h"
#include "sluice/infer/loaded_model.h"
#include "sluice/probe/intervention.h"

namespace sluice {

// Values of a gate, over a layer or over all of them.
struct GateSummary {
  double mean = 0, first = 0, others = 0;  // first: of position 0; others NaN if there is no other
  double closed = 0, open = 0;             // shares below 0.1 and above 0.9
  double lowest = 0, highest = 0;
  std::vector<double> histogram = {};  // shares of all values in 40 equal parts from 0 to 1
};

struct GateSpread;

struct ViewGate {
  std::string_view position;  // "g1"
  int64_t heads = 0, width = 0;
  GateSummary summary = {};
  std::vector<float> by_token = {};               // [T, H]: means over the channels
  std::vector<Thumbnail> thumbnails = {};         // of each head: token × channel
  std::shared_ptr<const GateSpread> spread = {};  // what adds up to that of all layers
};

struct ViewLayer {
  int64_t layer = 0;
  AttentionLayer attention = {};           // no heads: a layer without attention
  std::vector<float> received = {};        // [H, T]: mean probability of the queries that see the key
  std::vector<Thumbnail> thumbnails = {};  // of each head's attention
  std::vector<ViewGate> gates = {};
  // Of the block's output.
  double largest = 0, mean_absolute = 0;
  int64_t largest_position = 0, largest_channel = 0;
};

// What is large: of one layer.
struct LayerDetail {
  struct Gate {
    std::string_view position;
    Tensor values;  // [T, H, w]
  };
  int64_t layer = 0;
  Tensor probabilities = {};  // [H, T, T]; undefined without attention
  std::vector<Gate> gates = {};

  size_t bytes() const;
};

struct PromptView {
  // 64 MB: 1,024 tokens of a vocabulary of 16,384.
  static constexpr int64_t kMostKeptPredictions = int64_t{1} << 24;

  std::vector<TokenId> ids = {};
  std::vector<Intervention> interventions = {};
  std::vector<std::string> tokens = {};  // their text; empty if the model has no tokenizer
  std::vector<float> surprise = {};      // [T], nats; NaN for the first
  std::vector<ViewLayer> layers = {};
  std::vector<std::pair<std::string_view, GateSummary>> gates = {};  // by position, over all layers
  std::vector<Tensor> streams = {};  // [T, D]: the input of each layer, then the last one's output
  Tensor hidden = {};                // [T, D]: behind the final norm
  Tensor log_probabilities = {};     // [T, V], of what comes next; undefined if there are too many to keep

  int64_t length() const { return std::ssize(ids); }
  size_t bytes() const;
  double nll() const;  // NaN of a single token
  KeyAttention sink() const;
};

struct PromptViewRequest {
  std::vector<TokenId> ids;
  std::vector<Intervention> interventions = {};
  Packing packing = Packing::Once;
  // The same prompt without interventions, if it is there: its layers before the first change are taken over.
  const PromptView* unchanged = nullptr;
  // Called after each layer that is computed, for whoever has room to keep it.
  std::function<void(LayerDetail)> seen = {};
};

// A usage error if there are no tokens, more than kMaxPromptTokens, or an intervention met none of them.
PromptView view_prompt(const LoadedModel& model, const PromptViewRequest& request,
                       const JobControl& control = {});

// The same bits as during the view.
LayerDetail layer_detail(const LoadedModel& model, const PromptView& view, int64_t layer,
                         Packing packing = Packing::Once);

nlohmann::ordered_json to_json(const PromptView& view);

}  // namespace sluice
