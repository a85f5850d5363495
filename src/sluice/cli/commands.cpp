#include "sluice/cli/commands.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "sluice/base/error.h"
#include "sluice/base/suggest.h"

namespace sluice::cli {

const std::vector<CommandGroup>& command_groups() {
  static const std::vector<CommandGroup> groups = {
      {"Start", {demo_command()}},
      {"Models", {params_command(), init_command(), convert_command()}},
      {"Run", {trace_command(), eval_command(), generate_command()}},
      {"Look", {gates_command(), attention_command(), compare_command(), tokens_command()}},
      {"Data", {tokenizer_command(), data_command()}},
      {"Train", {train_command(), sweep_command(), experiment_command(), plot_command()}},
      {"Measure", {doctor_command(), bench_command()}},
      {"Help", {completion_command(), help_command()}}};
  return groups;
}

const std::vector<Command>& commands() {
  static const std::vector<Command> all = [] {
    std::vector<Command> flat;
    for (const CommandGroup& group : command_groups())
      flat.insert(flat.end(), group.commands.begin(), group.commands.end());
    return flat;
  }();
  return all;
}

const Command& find_command(const std::string& name) {
  const auto found = std::ranges::find(commands(), name, &Command::name);
  if (found != commands().end()) return *found;
  std::vector<std::string> names;
  for (const Command& command : commands()) names.push_back(command.name);
  const std::string suggestion = did_you_mean(name, names);
  throw usage_error({.what = fmt::format("unknown command \"{}\"", name),
                     .hint = suggestion.empty() ? fmt::format("try one of {}; sluice help explains them",
                                                              fmt::join(names, ", "))
                                                : suggestion});
}

}  // namespace sluice::cli
