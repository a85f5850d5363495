#include "sluice/cli/json_lines.h"

#include <fmt/format.h>

#include <ostream>

#include "sluice/data/text_reader.h"
#include "sluice/text/lines.h"

namespace sluice::cli {

using nlohmann::ordered_json;

std::vector<ordered_json> map_lines(const std::string& path, const Threads& threads,
                                    const std::function<ordered_json(const Json&)>& turn) {
  const std::string content = read_input(path);
  std::vector<std::pair<std::size_t, std::string_view>> lines;  // number, text
  for_each_line(content, 1,
                [&](std::size_t number, std::string_view line) { lines.emplace_back(number, line); });
  std::vector<ordered_json> results(lines.size());
  threads.split(static_cast<int64_t>(lines.size()), 16, [&](Range range) {
    for (auto i = static_cast<std::size_t>(range.begin); i < static_cast<std::size_t>(range.end); ++i) {
      const std::string where = fmt::format("{}: line {}", input_name(path), lines[i].first);
      results[i] = turn(Json::parse(lines[i].second, where));
    }
  });
  return results;
}

void print_lines(const Session& session, const std::vector<ordered_json>& lines) {
  if (session.options.json) {
    session.out << ordered_json{{"lines", lines}}.dump() << '\n';
    return;
  }
  for (const ordered_json& line : lines) session.out << line.dump() << '\n';
}

}  // namespace sluice::cli
