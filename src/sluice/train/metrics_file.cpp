#include "sluice/train/metrics_file.h"

#include <fmt/format.h>

#include "sluice/base/file.h"
#include "sluice/base/json.h"
#include "sluice/text/lines.h"

namespace sluice {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 30;  // five million steps
// Differences of such numbers are still finite.
constexpr NumberRange kSane{-1e300, 1e300};
constexpr NumberRange kCount{0, 1e300};

double number(const Json& line, const char* key, NumberRange range = kSane) {
  return line.number_or(key, StepMetrics::kUnknown, range);
}

ValidationMetrics validation_of(const Json& line, const StepMetrics& at) {
  ValidationMetrics result{.at = at,
                           .sink = number(line, "sink"),
                           .sink_floor = number(line, "sink_floor"),
                           .max_activation = number(line, "max_activation"),
                           .gate_mean = number(line, "gate_mean"),
                           .sequences = line.integer_or("sequences", 0, {.min = 0}),
                           .length = line.integer_or("length", 0, {.min = 0})};
  result.at.loss = number(line, "validation_loss");
  return result;
}

class Reader {
 public:
  void add(const Json& line) {
    const int64_t step = line.integer("step", {.min = 0});
    if (step < last_.step) {
      throw line.at("step").unexpected(fmt::format("no step before {}, which stands above", last_.step));
    }
    if (step > last_.step) last_ = {.step = step};
    if (line.contains("loss")) {
      if (!metrics_.steps.empty() && step == metrics_.steps.back().step)
        throw line.at("step").unexpected("a step that was not there before");
      last_ = {.step = step,
               .tokens = number(line, "tokens", kCount),
               .seconds = number(line, "seconds", kCount),
               .loss = number(line, "loss")};
      metrics_.steps.push_back(last_);
    }
    // A validation comes after its step and says neither tokens nor seconds itself.
    if (line.contains("validation_loss")) metrics_.validations.push_back(validation_of(line, last_));
  }

  RunMetrics take() { return std::move(metrics_); }

 private:
  RunMetrics metrics_;
  StepMetrics last_;
};

}  // namespace

std::string read_metrics_text(const std::filesystem::path& run_directory) {
  std::string text = read_text(run_directory / kMetricsName, kMaxBytes);
  text.resize(text.find_last_of('\n') + 1);  // npos + 1 is 0: not one line is whole
  return text;
}

RunMetrics read_metrics(const std::filesystem::path& run_directory) {
  const std::filesystem::path path = run_directory / kMetricsName;
  const std::string text = read_metrics_text(run_directory);
  Reader reader;
  for_each_line(text, 1, [&](size_t number, std::string_view line) {
    reader.add(Json::parse(line, fmt::format("{}: line {}", path.string(), number)));
  });
  return reader.take();
}

}  // namespace sluice
