#include "sluice/model/written_model.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace sluice {

nlohmann::ordered_json to_json(const WrittenModel& model) {
  return {{"out", model.out.string()}, {"parameters", model.parameters}};
}

std::string to_text(const WrittenModel& model) {
  return fmt::format("{} parameters written to {}\n", model.parameters, model.out.string());
}

}  // namespace sluice
