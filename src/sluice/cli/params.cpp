#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/cli/commands.h"
#include "sluice/model/config_reader.h"
#include "sluice/model/count.h"

namespace sluice::cli {
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

nlohmann::ordered_json as_json(const ParameterCount& count, const FlopCount& flops) {
  nlohmann::ordered_json parts;
  for (const auto& [name, value] : parts_of(count)) parts[name] = value;
  return {
      {"total", count.total()},
      {"active", count.active()},
      {"parts", parts},
      {"gate_overhead",
       {{"parameters", share(count.gates, count.total() - count.gates)},
        {"flops", share(flops.gates, flops.products - flops.gates)}}},
      {"flops_per_token", {{"products", flops.products}, {"per_context_token", flops.per_context_token}}}};
}

std::string as_text(const ParameterCount& count, const FlopCount& flops) {
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
    text += fmt::format("gates add {:.3f} % parameters and {:.3f} % FLOPs\n",
                        100 * share(count.gates, count.total() - count.gates),
                        100 * share(flops.gates, flops.products - flops.gates));
  }
  return text;
}

Action declare_params(Options& options) {
  auto path = std::make_shared<std::string>();
  options.argument({.name = "CONFIG|MODEL",
                    .value = "",
                    .text = "A config.json, a model directory that has one, or a preset's name"},
                   Presence::Required, *path);
  return [path](const Session& session) {
    const ModelConfig config = load_model_config(*path);
    const ParameterCount count = count_parameters(config);
    const FlopCount flops = count_flops(config);
    session.out << (session.options.json ? as_json(count, flops).dump(2) + "\n" : as_text(count, flops));
  };
}

}  // namespace

Command params_command() {
  return {.name = "params",
          .summary = "Count a model's parameters and arithmetic",
          .description =
              "Counts parameters by part, floating-point operations per token, and what the gates add, from "
              "the configuration alone.",
          .examples = {"sluice params 1b-elementwise", "sluice params path/to/model --json"},
          .declare = declare_params};
}

}  // namespace sluice::cli
