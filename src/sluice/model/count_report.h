// What a model's configuration amounts to, for a person and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sluice/model/count.h"

namespace sluice {

struct CountReport {
  ParameterCount parameters;
  FlopCount flops;
};

CountReport count_model(const ModelConfig& config);

nlohmann::ordered_json to_json(const CountReport& report);
std::string to_text(const CountReport& report);

}  // namespace sluice
