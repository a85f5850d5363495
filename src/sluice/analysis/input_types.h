// Do different kinds of text get different gates? Many samples of each kind, of the same length in tokens,
// one figure per sample, and tests over samples.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sluice/analysis/moments.h"
#include "sluice/analysis/permutation_test.h"
#include "sluice/base/job_control.h"
#include "sluice/infer/loaded_model.h"
#include "sluice/probe/intervention.h"

namespace sluice {

struct LabelledTexts {
  std::string label;
  std::vector<std::string> texts;
};

// Texts as samples of tokens, all of the same length.
struct LabelledSamples {
  std::string label;
  std::vector<std::vector<TokenId>> samples;
};

// The beginnings of the texts; those with fewer tokens are left out. Bad input if fewer than two are left.
LabelledSamples samples_of(const LoadedModel& model, const LabelledTexts& type, int64_t length);

struct InputTypesRequest {
  std::vector<LabelledSamples> types;  // at least two
  std::vector<Intervention> interventions = {};
};

// Factual, technical, conversational, repetitive and code-like text, made here: so many of each; none of 0.
std::vector<LabelledTexts> generated_types(int64_t samples, uint64_t seed);

// Each document of a file is a sample (data/text_reader.h).
LabelledTexts read_type(const std::string& label, const std::string& path);

struct InputType {
  std::string label;
  Samples means, closed;  // of each sample: the mean gate at g1, and the share of gates below 0.1
  std::map<int64_t, Moments> by_layer = {};  // of all samples
};

struct InputTypePair {
  size_t first = 0, second = 0;  // of the types
  double difference = 0;         // of their means
  double effect = 0;             // Hedges' g
  double p = 0;                  // corrected for all pairs
};

struct InputTypes {
  int64_t length = 0;
  std::vector<InputType> types = {};
  double p = 0;  // that all types are alike
  std::vector<InputTypePair> pairs = {};
};

nlohmann::ordered_json to_json(const InputTypes& types);

// The model must have a gate at g1.
InputTypes compare_input_types(const LoadedModel& model, const InputTypesRequest& request,
                               const JobControl& control = {});

}  // namespace sluice
