// Where a value is in JSON: "rows[0].name", "rows[*].ms" (in every row), "ids[-1]" (the last),
// `pulse."gate_below_0.1"`, "." (the whole).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::test {

using OrderedJson = nlohmann::ordered_json;

class JsonPath {
 public:
  explicit JsonPath(std::string_view text);  // throws std::invalid_argument

  struct Found {
    std::string path;          // with numbers for stars
    const OrderedJson* value;  // null if there is none
  };
  std::vector<Found> find(const OrderedJson& json) const;

 private:
  struct Step {
    std::string name = {};          // of a member, unless there is an index
    std::optional<int> index = {};  // of an element
    bool every = false;             // element
  };

  void add_name(std::string_view& text);
  void add_index(std::string_view& text);

  std::vector<Step> steps_;
};

}  // namespace sluice::test
