// What the views of base/json.h share: only json.cpp and json_parse.cpp include this.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sluice/base/json.h"

namespace sluice {

struct Json::Document {
  std::string source;
  nlohmann::json root;
};

}  // namespace sluice
