// Studying models: each is loaded, looked at over the same text, and asked what the request names besides.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sluice/analysis/input_types.h"
#include "sluice/analysis/logit_lens.h"
#include "sluice/analysis/look.h"
#include "sluice/analysis/prompt_map.h"
#include "sluice/probe/index_set.h"

namespace sluice {

// Whether all models must see the same tokens, as paired comparisons need it.
enum class TextMatch { Any, Same };

struct Study;

struct StudyRequest {
  std::vector<std::string> models;
  ModelOptions options = {};
  TextSource source;
  ChunkOptions chunks = {};
  TextMatch text = TextMatch::Any;
  std::vector<std::string> interventions = {};  // as parse_intervention() takes them
  std::vector<std::string> calibration = {};    // files of the text that means and shuffles come from
  int64_t key = 0;                              // that attention is measured on

  // What is shown token by token.
  struct Prompt {
    std::optional<std::string> text = {};     // none: the beginning of the evaluated text
    int64_t tokens = 64;                      // of that
    std::optional<IndexSet> map_layers = {};  // whose attention is drawn; none: four of them
    bool map_heads = false;                   // of every head instead of their mean
    bool lens = false;                        // also what each layer would predict
  };
  std::optional<Prompt> prompt = Prompt{};  // none: no prompt is shown

  std::vector<LabelledTexts> types = {};  // kinds of text to compare; none: that is not asked
  int64_t type_length = 48;               // tokens of their samples

  int64_t first_words = 0;  // short sequences that each begin with another token; 0: none

  std::optional<TextSource> second = {};  // another kind of text to look at beside the first
  ChunkOptions second_chunks = {};

  std::filesystem::path out = {};  // where processes that share the work meet
  WorkSharing sharing = {};        // the looks are shared; the rest, which is little, one process does
  // Writes down what processes that share the work have come to, before it counts as done.
  std::function<void(const Study&)> publish = {};
};

struct StudiedModel {
  std::string name;  // of figures and tables: the last part of its path, made unique
  int64_t parameters = 0;
  Look look = {};
  PromptMap prompt = {};                 // empty if none is shown
  std::optional<LogitLens> lens = {};    // of the prompt
  std::optional<InputTypes> types = {};  // of models with a gate at g1 and a tokenizer
  std::optional<Look> second = {};
  std::optional<Look> first_words = {};
};

struct Study {
  std::vector<StudiedModel> models = {};
  std::vector<std::string> interventions = {};  // that the models were looked at under
  bool is_elsewhere = false;                    // another process collects the results; there are none here
};

// One after the other, never two in memory; all texts are read before a model runs. A usage error if standard
// input would be read twice; bad input if models must see the same tokens and do not.
Study study_models(Engine& engine, const StudyRequest& request, const JobControl& control = {});

nlohmann::ordered_json to_json(const Study& study);

}  // namespace sluice
