#include "sluice/bench/table.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "sluice/bench/figures.h"

namespace sluice::bench {
namespace {

// Takes a number off the front of the text; none if there is none, or one out of range.
std::optional<int64_t> take_size(std::string_view& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 1 || value > 1 << 20) return {};
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

nlohmann::ordered_json to_json(const Row& row) {
  nlohmann::ordered_json json = {{"name", row.name},
                                 {"shape", row.shape},
                                 {"compute", name_of(row.compute)},
                                 {"ms", rounded(row.measured.seconds * 1e3)}};
  json.update(to_json(row.measured));
  json["openblas_f32_gflops"] = nullptr;
  json["ratio"] = nullptr;
  if (row.openblas) {
    json["openblas_f32_gflops"] = rounded(*row.openblas / 1e9);
    json["ratio"] = rounded(row.openblas_ratio());
  }
  return json;
}

std::string to_text(const Row& row) {
  const Measured& measured = row.measured;
  std::string text = fmt::format("{:<30}{:>16}{:>6}{:>10.3f}{:>10}{:>9} {:<7}{:>8.3f}", row.name, row.shape,
                                 name_of(row.compute), measured.seconds * 1e3, figure(measured.rate() / 1e9),
                                 figure(measured.peak / 1e9), measured.bound.unit, measured.share());
  if (row.openblas) text += fmt::format("{:>10}{:>7.2f}", figure(*row.openblas / 1e9), row.openblas_ratio());
  return text + '\n';
}

}  // namespace

std::string CaseShape::text() const {
  return fmt::format("{}x{}x{}", a, b, c);
}

std::optional<CaseShape> parse_case_shape(std::string_view text) {
  CaseShape shape;
  for (int64_t* size : {&shape.a, &shape.b, &shape.c}) {
    if (size != &shape.a) {
      if (!text.starts_with('x')) return {};
      text.remove_prefix(1);
    }
    const std::optional<int64_t> value = take_size(text);
    if (!value) return {};
    *size = *value;
  }
  // A quadrillion elements: no machine holds them, and a tensor could not count many more.
  constexpr int64_t kMost = int64_t{1} << 50;
  if (!text.empty() || shape.a * shape.b > kMost / shape.c) return {};
  return shape;
}

nlohmann::ordered_json to_json(const Table& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Row& row : table.rows) rows.push_back(to_json(row));
  return {{"what", table.what},       {"dtype", name_of(table.precision)}, {"isa", name_of(table.isa)},
          {"threads", table.threads}, {"repetitions", table.repetitions},  {"counted", table.counted},
          {"rows", std::move(rows)}};
}

std::string to_text(const Table& table) {
  std::string text = fmt::format("{:<30}{:>16}{:>6}{:>10}{:>10}{:>9} {:<7}{:>8}{:>10}{:>7}\n", "", "shape",
                                 "type", "ms", "rate", "peak", "", "share", "OpenBLAS", "ratio");
  for (const Row& row : table.rows) text += to_text(row);
  return text + fmt::format(
                    "\n{}\nMedians of {} on {} thread{}, {}. A share is rate / peak, the peak measured in "
                    "turns with the rate.\n",
                    table.counted, table.repetitions, table.threads, table.threads == 1 ? "" : "s",
                    name_of(table.isa));
}

}  // namespace sluice::bench
