#include "sluice/cli/commands.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "sluice/base/error.h"
#include "sluice/base/suggest.h"

namespace sluice::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
      demo_command(),   params_command(), init_command(),       convert_command(),
      trace_command(),  eval_command(),   generate_command(),   tokenizer_command(),
      data_command(),   train_command(),  sweep_command(),      plot_command(),
      doctor_command(), bench_command(),  completion_command(), help_command()};
  return table;
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
