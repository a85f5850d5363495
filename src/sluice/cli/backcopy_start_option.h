// --start: what the documents of a backcopy text begin with.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sluice/cli/options.h"
#include "sluice/data/backcopy.h"

namespace sluice::cli {

struct BackcopyStartOption {
  std::string word;  // empty: not given

  void declare(Options& options, const std::string& text) {
    options.choice({.name = "--start",
                    .value = "S",
                    .text = text + ": symbol (default), the same in all, or letter, any of them",
                    .words = words()},
                   word);
  }
  bool is_given() const { return !word.empty(); }
  BackcopyStart start() const {
    const auto* named = std::ranges::find(kBackcopyStarts, word, &Choice<BackcopyStart>::name);
    return named == std::end(kBackcopyStarts) ? BackcopyStart::Symbol : named->value;
  }

 private:
  static std::vector<std::string> words() {
    std::vector<std::string> names;
    for (const Choice<BackcopyStart>& each : kBackcopyStarts) names.emplace_back(each.name);
    return names;
  }
};

}  // namespace sluice::cli
