// Files with a JSON object per line, in and out.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sluice/base/json.h"
#include "sluice/cli/command.h"

namespace sluice::cli {

// Each line of a JSON Lines file turned into another object; the lines are shared out among threads.
std::vector<nlohmann::ordered_json> map_lines(const std::string& path, const Threads& threads,
                                              const std::function<nlohmann::ordered_json(const Json&)>& turn);

// One object per line; with --json all of them in one.
void print_lines(const Session& session, const std::vector<nlohmann::ordered_json>& lines);

}  // namespace sluice::cli
