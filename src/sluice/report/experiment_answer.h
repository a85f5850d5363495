// The answer of an experiment's page: words that somebody wrote after a look, around numbers that are
// computed, so that these are never older than the page.
#pragma once

#include <string>
#include <vector>

#include "sluice/experiment/experiment_result.h"

namespace sluice {

// A paragraph of it with its {…} replaced by numbers of the experiment; docs/experiments.md lists them. Bad
// input for what the experiment does not have.
std::string filled_in(const std::string& paragraph, const ExperimentResult& result);

// The same of the whole answer, with what is planned and before anything is trained.
void check_answer(const ExperimentResult& planned);

}  // namespace sluice
