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

// Of one rank, if there are several.
std::string memory_text(const TrainingPlan& plan) {
  const std::string available = plan.ranks_here == 1
                                    ? fmt::format("{} are available", size(plan.available_bytes))
                                    : fmt::format("{} are available to the {} ranks of this machine",
                                                  size(plan.available_bytes), plan.ranks_here);
  std::string text = fmt::format("{:<13}{} for weights, gradients and optimiser{}; {}\n", "memory",
                                 size(plan.state_bytes), plan.ranks == 1 ? "" : " on each rank", available);
  if (plan.kept_sums > 0) {
    text += fmt::format("{:<13}{} for {} of gradients that {} between passes\n", "", size(plan.kept_bytes),
                        plan.kept_sums == 1 ? "a sum" : fmt::format("{} sums", plan.kept_sums),
                        plan.kept_sums == 1 ? "is kept" : "are kept");
  }
  if (!plan.trial) return text;
  return text + fmt::format(
                    "{:<13}{} with activations, estimated from a few sequences; the program and the "
                    "files that it maps come on top\n",
                    "", size(plan.trial->memory_bytes));
}

}  // namespace

std::string to_text(const TrainingPlan& plan) {
  std::string text = fmt::format("{:<13}{}\n", "parameters", plan.parameters);
  text += fmt::format("{:<13}{} ({} tokens)\n", "steps", plan.steps, plan.tokens);
  if (plan.ranks > 1) {
    text += fmt::format("{:<13}{}, each with at most {} {} of {} tokens a step\n", "ranks", plan.ranks,
                        plan.passes, plan.passes == 1 ? "pass" : "passes", plan.pass_tokens);
  }
  text += fmt::format("{:<13}{:.3g} floating-point operations\n", "work", plan.flops);
  text += memory_text(plan);
  if (!plan.trial)
    return text + fmt::format("{:<13}not tried: the model does not fit this machine\n", "time");
  return text + fmt::format("{:<13}about {} at {:.0f} tokens/s, likewise; validation comes on top\n", "time",
                            duration(plan.trial->seconds), plan.trial->tokens_per_s);
}

}  // namespace sluice
