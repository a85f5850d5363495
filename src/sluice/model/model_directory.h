// Where a model's files are. A run's directory is a model, too: it stands for its best checkpoint.
#pragma once

#include <filesystem>

#include "sluice/base/job_control.h"

namespace sluice {

// The directory with config.json and weights. Of a run's directory that is its best checkpoint, or its latest
// if no validation chose one; a remark says which. RUN/latest and RUN/checkpoints/step-N are themselves. Bad
// input for a run that has saved nothing yet. Any other path is given back as it is.
std::filesystem::path model_directory(const std::filesystem::path& path, const JobControl& control = {});

// The run that a path belongs to: a run's directory, or one of its checkpoints by any name. Empty if it is
// neither.
std::filesystem::path run_directory_of(const std::filesystem::path& path);

}  // namespace sluice
