// Rewriting a model directory: another layout of the gates, another element type.
#pragma once

#include <filesystem>
#include <optional>

#include "sluice/base/job_control.h"
#include "sluice/model/checkpoint.h"
#include "sluice/model/written_model.h"

namespace sluice {

struct Conversion {
  std::optional<GateLayout> layout = {};  // none: as it is
  std::optional<StoredType> dtype = {};   // none: as each tensor is
  NonFinite nonfinite = NonFinite::Refused;
};

// The configuration of the same model in another layout; bad input with the reason if that layout cannot
// express it. Models without gates have only one layout and stay as they are.
ModelConfig with_layout(const ModelConfig& config, GateLayout layout, const std::string& where);

// Writes `out`, which must not exist yet, with the tokenizer and generation settings of the source beside the
// tensors. Only one tensor is in memory at a time.
WrittenModel convert_model(const std::filesystem::path& in, const std::filesystem::path& out,
                           const Conversion& conversion, const JobControl& control = {});

}  // namespace sluice
