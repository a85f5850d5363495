// Looking at a model: one pass over a text that measures its gates, where its attention goes, how large its
// values get and how well it predicts. Sums are kept, never the values: memory does not grow with the text
// but for a few numbers per sequence.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sluice/analysis/activation_measure.h"
#include "sluice/analysis/attention_measure.h"
#include "sluice/analysis/experts_measure.h"
#include "sluice/analysis/gate_measure.h"
#include "sluice/analysis/gate_relations.h"
#include "sluice/analysis/gates_by_token.h"
#include "sluice/analysis/sparsity_measure.h"
#include "sluice/dist/pieces.h"
#include "sluice/eval/evaluate.h"

namespace sluice {

// A look whose parts are shared out over processes.
struct LookSharing {
  PieceFolder folder;
  std::string name;         // of this look among those of the job
  std::string fingerprint;  // of the model, as it is looked at; the look adds its text
};

struct LookRequest {
  ChunkedText text;  // chunks must not overlap: sequences count as independent
  std::vector<Intervention> interventions = {};
  int64_t key = 0;                          // that attention is measured on; any but the first takes longer
  std::optional<LookSharing> sharing = {};  // every process has the result
};

struct Look {
  std::string model;  // its directory
  DType dtype = DType::F32;
  BeginOfText begin_of_text = BeginOfText::None;
  int64_t key = 0;
  int64_t sequences = 0, length = 0, tokens = 0;  // tokens: that the model saw
  int64_t first_tokens = 0;                       // different ones at position 0
  double key_floor = 0, late_key_floor = 0;  // what uniform attention would put on the key; late: without the
                                             // first four queries
  uint32_t text_checksum = 0;                // of the tokens: equal ones are the same text in the same chunks
  std::vector<ChunkNll> chunks = {};
  Perplexity perplexity = {};

  std::vector<GateMeasure> gates = {};  // a position each; none if the model has no gate
  std::vector<AttentionLayer> attention = {};
  std::vector<ActivationMeasure> activations = {};  // in the order of kActivationPoints
  std::vector<SparsityLayer> sparsity = {};         // where a gate at g1 multiplies attention's output
  std::vector<GateLayerRelations> relations = {};   // of the gate at g1, if there is one
  std::vector<ExpertsLayer> experts = {};           // of sparse layers
  GatesByToken by_token = {};                       // likewise
  Estimate sink = {}, late_sink = {};               // attention on the key, mean over layers

  // The gate at g1; null if there is none.
  const GateMeasure* output_gate() const;
};

// Equal for the same tokens in the same chunks.
uint32_t checksum_of(const ChunkedText& text);

// Fails if the likelihood of the text is not finite. A usage error if an intervention met no token, or if no
// chunk is long enough to have the key.
Look look(const LoadedModel& model, const LookRequest& request, const JobControl& control = {});

// The estimates of a look whose sums are complete.
void add_estimates(Look& look);

// Of the gate at g1 in a layer, by head.
std::vector<double> output_gate_means(const Look& look, int64_t layer);

nlohmann::ordered_json to_json(const Look& look);

}  // namespace sluice
