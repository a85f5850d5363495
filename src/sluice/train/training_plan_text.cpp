#include <fmt/format.h>

#include "sluice/train/training_plan.h"

namespace sluice {
namespace {

std::string size(int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  return value < 1e9 ? fmt::format("{:.1f} MB", value / 1e6) : fmt::format("{:.2f} GB", value / 1e9);
}

std::string duration(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} minutes", seconds / 60);
  return fmt::format("{:.1f} hours", seconds / 3600);
}

}  // namespace

std::string to_text(const TrainingPlan& plan) {
  std::string text = fmt::format("{:<13}{}\n", "parameters", plan.parameters);
  text += fmt::format("{:<13}{} ({} tokens)\n", "steps", plan.steps, plan.tokens);
  text += fmt::format("{:<13}{:.3g} floating-point operations\n", "work", plan.flops);
  text += fmt::format("{:<13}{} for weights, gradients and optimiser; {} are available\n", "memory",
                      size(plan.state_bytes), size(plan.available_bytes));
  if (!plan.trial)
    return text + fmt::format("{:<13}not tried: the model does not fit this machine\n", "time");
  text += fmt::format("{:<13}{} with activations, estimated from a few sequences\n", "",
                      size(plan.trial->memory_bytes));
  return text + fmt::format("{:<13}about {} at {:.0f} tokens/s, likewise; validation comes on top\n", "time",
                            duration(plan.trial->seconds), plan.trial->tokens_per_s);
}

}  // namespace sluice
