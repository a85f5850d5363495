// How well a model knows a BackcopyChain (data/backcopy.h): whether it copies after triggers, and how far it
// is from the chain's own probabilities everywhere else.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "sluice/base/job_control.h"
#include "sluice/data/backcopy.h"
#include "sluice/infer/loaded_model.h"
#include "sluice/probe/intervention.h"

namespace sluice {

struct BackcopyRequest {
  uint64_t seed = 0;  // of the chain
  int64_t documents = 200;
  BackcopyStart start = BackcopyStart::Symbol;  // as in the text that the model was trained on
  std::optional<int64_t> letters = {};          // of each; none: the usual number
  std::vector<Intervention> interventions = {};

  int64_t letters_of_each() const { return letters.value_or(BackcopyChain::usual_letters(start)); }
  // A pass sees all of a document but its last letter.
  int64_t tokens_of_pass() const { return letters_of_each() - static_cast<int64_t>(unseen_signs(start)); }
};

struct BackcopyScore {
  int64_t documents = 0;
  int64_t copies = 0;        // letters after a trigger that are a copy
  double copy_accuracy = 0;  // share of them that the model finds likeliest
  double copy_nll = 0;       // nats per letter; the chain's own is 0
  int64_t others = 0;
  double other_nll = 0;  // nats per letter
  double chain_nll = 0;  // of the same letters, by the chain itself
  double excess() const { return other_nll - chain_nll; }
};

nlohmann::ordered_json to_json(const BackcopyScore& score);
std::string to_text(const BackcopyScore& score);

// On documents far beyond those that a corpus of the same seed has. Bad input if a token of the model is not
// a letter.
BackcopyScore score_backcopy(const LoadedModel& model, const BackcopyRequest& request,
                             const JobControl& control = {});

}  // namespace sluice
