// A model directory that was written, as commands tell it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace sluice {

struct WrittenModel {
  std::filesystem::path out;
  int64_t parameters = 0;
};

nlohmann::ordered_json to_json(const WrittenModel& model);
std::string to_text(const WrittenModel& model);

}  // namespace sluice
