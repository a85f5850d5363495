#include "sluice/train/metrics.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sluice/base/file.h"
#include "sluice/base/json.h"
#include "sluice/text/lines.h"

namespace sluice {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 30;  // five million steps
// Differences of such numbers are finite.
constexpr NumberRange kCount{0, 1e300};

double number(const Json& line, const char* key, NumberRange range = kFinite) {
  return line.number_or(key, StepMetrics::kUnknown, range);
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
    if (line.contains("validation_loss"))
      metrics_.validations.push_back({.at = last_, .validation = read_validation(line)});
  }

  RunMetrics take() { return std::move(metrics_); }

 private:
  RunMetrics metrics_;
  StepMetrics last_;
};

}  // namespace

void RunMetrics::add(const StepResult& result, const RunState& state) {
  steps.push_back({.step = state.step,
                   .tokens = static_cast<double>(state.tokens),
                   .seconds = state.seconds,
                   .loss = result.loss});
}

void RunMetrics::add(const Validation& validation) {
  validations.push_back(
      {.at = steps.empty() ? StepMetrics{.step = validation.step} : steps.back(), .validation = validation});
}

nlohmann::ordered_json step_line(const StepResult& result, const RunState& state) {
  nlohmann::ordered_json line = {
      {"step", state.step},           {"loss", result.loss},    {"gradient_norm", result.gradient_norm},
      {"rate", result.rate},          {"tokens", state.tokens}, {"seconds", state.seconds},
      {"spikes", state.losses.spikes}};
  if (result.auxiliary_loss != 0) line["auxiliary_loss"] = result.auxiliary_loss;
  return line;
}

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

MetricsLine metrics_line(const nlohmann::ordered_json& object) {
  MetricsLine line{.kind = object.contains("validation_loss") ? MetricsKind::Validation : MetricsKind::Step,
                   .step = object.at("step").get<int64_t>(),
                   .numbers = {}};
  for (const auto& [name, value] : object.items()) {
    if (name == "step" || !(value.is_number() || value.is_null())) continue;
    if (value.is_null()) {
      line.numbers.push_back({.name = name, .text = "", .value = std::numeric_limits<double>::quiet_NaN()});
    } else {
      line.numbers.push_back({.name = name, .text = value.dump(), .value = value.get<double>()});
    }
  }
  return line;
}

std::vector<MetricsLine> read_metrics_lines(std::string_view text) {
  std::vector<MetricsLine> lines;
  for_each_line(text, 1, [&](size_t, std::string_view line) {
    lines.push_back(metrics_line(nlohmann::ordered_json::parse(line)));
  });
  return lines;
}

}  // namespace sluice
