// Evaluating a text: how likely a model finds it, with an interval, and what that is beside another model.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "sluice/base/error.h"
#include "sluice/base/job_control.h"
#include "sluice/eval/perplexity.h"
#include "sluice/eval/text_source.h"
#include "sluice/probe/intervention.h"

namespace sluice {

struct EvaluationRequest {
  ChunkedText text;
  std::vector<Intervention> interventions = {};
};

struct Comparison {
  DType dtype = DType::F32;  // of the other model's weights
  Perplexity base;
  PerplexityDifference difference;
};

struct Evaluation {
  DType dtype = DType::F32;  // of the weights
  Perplexity perplexity;
  int64_t chunk_length = 0, stride = 0;
  BeginOfText begin_of_text = BeginOfText::None;
  std::vector<ChunkNll> chunks;
  std::optional<double> bits_per_byte = {};  // none if nobody knows the text of the tokens
  std::optional<Comparison> against = {};
};

nlohmann::ordered_json to_json(const Evaluation& evaluation);
std::string to_text(const Evaluation& evaluation);

// Fails if the likelihood or the perplexity is beyond all numbers: InfinitePerplexity; a usage error if an
// intervention met no token.
Evaluation evaluate(const LoadedModel& model, const EvaluationRequest& request,
                    const JobControl& control = {});

// Of chunks that the model was run on. Fails if it is beyond all numbers: InfinitePerplexity.
Perplexity finite_perplexity(const LoadedModel& model, std::span<const ChunkNll> chunks);

// The first of two evaluations of the same chunks, with how it differs from the other.
Evaluation compared(Evaluation evaluation, const Evaluation& base);

// The whole way from a model's directory and a text, with weights of one type or of two.
struct ModelEvaluationRequest {
  std::filesystem::path model;
  ModelOptions options = {};
  TextSource source;
  ChunkOptions chunks = {};
  std::vector<std::string> interventions = {};  // as parse_intervention() takes them
  std::vector<std::string> calibration = {};    // files of the text that means and shuffles come from
  std::optional<DType> against = {};            // evaluated on the same chunks, too
};

// The text is read once, since standard input cannot be read twice, and never are both models in memory. A
// usage error before anything is read if the two types are the same.
Evaluation evaluate_model(Engine& engine, const ModelEvaluationRequest& request,
                          const JobControl& control = {});

}  // namespace sluice
