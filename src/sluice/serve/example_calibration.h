// What means in the explorer are taken over. The text that is looked at cannot be it, since a token would see
// later ones; so it is examples like those that the page offers: sequences of the nursery's chain for its
// models, else generated text of every kind.
#pragma once

#include <span>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/probe/intervention.h"
#include "sluice/serve/model_shelf.h"

namespace sluice::serve {

// The changes, with what they need. The means of a point are kept with the model: its examples are always the
// same. For the thread that computes. HttpError for a shuffle, which wants whole sequences of the text's
// length, and for a mean in a model that has no tokenizer.
std::vector<Intervention> calibrated_on_examples(ShelvedModel& shelved, const LoadedModel& model,
                                                 std::vector<Intervention> changes,
                                                 const JobControl& control);

// For requests whose model is not loaded yet: an HttpError if one of the changes can never be made here.
void check_can_be_calibrated(std::span<const Intervention> changes);

}  // namespace sluice::serve
