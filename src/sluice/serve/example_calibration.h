// What means in the explorer are taken over. The text that is looked at cannot be it, since a token would see
// later ones; so it is examples like those that the page offers: sequences of the nursery's chain for its
// models, else generated text of every kind. They are cut as `sluice eval --calibration` cuts a file of them,
// so that who saves them gets the page's figures there.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/probe/intervention.h"
#include "sluice/serve/model_shelf.h"

namespace sluice::serve {

// Always the same for a model.
std::vector<std::string> example_texts(const ShelvedModel& shelved);

struct ExampleCalibration {
  std::vector<Intervention> changes;
  int64_t prompt_tokens = 0;  // examples are cut to the length of the prompt, of which the last is not fed
};

// The changes, with what they need. The means of a point at a length are kept with the model. For the thread
// that computes. HttpError for a shuffle, which wants whole sequences of the text's length, and for a mean in
// a model that has no tokenizer.
std::vector<Intervention> calibrated_on_examples(ShelvedModel& shelved, const LoadedModel& model,
                                                 ExampleCalibration wanted, const JobControl& control);

// For requests whose model is not loaded yet: an HttpError if one of the changes can never be made here.
void check_can_be_calibrated(std::span<const Intervention> changes);

}  // namespace sluice::serve
