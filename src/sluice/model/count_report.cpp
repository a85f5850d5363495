#include "sluice/model/count_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace sluice {
namespace {

// 1720837120 → "1,720,837,120"
std::string grouped(int64_t value) {
  const std::string digits = std::to_string(value);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

struct Part {
  const char* name;
  int64_t count;
};

std::vector<Part> parts_of(const ParameterCount& count) {
  return {{"embedding", count.embedding},
          {"head", count.head},
          {"attention", count.attention},
          {"gates", count.gates},
          {"feed_forward", count.feed_forward},
          {"router", count.router},
          {"norms", count.norms}};
}

double share(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

// What the gates add to the same model without them.
struct GateOverhead {
  double parameters, flops;
};

GateOverhead gate_overhead(const CountReport& report) {
  const auto& [count, flops] = report;
  return {.parameters = share(count.gates, count.total() - count.gates),
          .flops = share(flops.gates, flops.products - flops.gates)};
}

}  // namespace

CountReport count_model(const ModelConfig& config) {
  return {.parameters = count_parameters(config), .flops = count_flops(config)};
}

nlohmann::ordered_json to_json(const CountReport& report) {
  const auto& [count, flops] = report;
  nlohmann::ordered_json parts;
  for (const auto& [name, value] : parts_of(count)) parts[name] = value;
  const GateOverhead overhead = gate_overhead(report);
  return {
      {"total", count.total()},
      {"active", count.active()},
      {"parts", parts},
      {"gate_overhead", {{"parameters", overhead.parameters}, {"flops", overhead.flops}}},
      {"flops_per_token", {{"products", flops.products}, {"per_context_token", flops.per_context_token}}}};
}

std::string to_text(const CountReport& report) {
  const auto& [count, flops] = report;
  std::string text;
  const auto line = [&](const char* name, int64_t value, const std::string& note) {
    text += fmt::format("{:<22}{:>18}  {}\n", name, grouped(value), note);
  };
  for (const auto& [name, value] : parts_of(count)) {
    if (value != 0) line(name, value, fmt::format("{:5.1f} %", 100 * share(value, count.total())));
  }
  line("total", count.total(), "parameters");
  if (count.idle != 0) line("active", count.active(), "parameters per token");
  line("FLOPs per token", flops.products, "forward, products with weights; training takes 3 times as many");
  line("and per context token", flops.per_context_token, "attention, for each token attended to");
  if (count.gates != 0) {
    const GateOverhead overhead = gate_overhead(report);
    text += fmt::format("gates add {:.3f} % parameters and {:.3f} % FLOPs\n", 100 * overhead.parameters,
                        100 * overhead.flops);
  }
  return text;
}

}  // namespace sluice
