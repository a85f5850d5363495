// The command table. A new command is a file with one function, declared and listed here.
#pragma once

#include "sluice/cli/command.h"

namespace sluice::cli {

Command attention_command();
Command bench_command();
Command compare_command();
Command completion_command();
Command convert_command();
Command data_command();
Command demo_command();
Command doctor_command();
Command eval_command();
Command gates_command();
Command generate_command();
Command help_command();
Command init_command();
Command params_command();
Command plot_command();
Command sweep_command();
Command experiment_command();
Command tokenizer_command();
Command tokens_command();
Command trace_command();
Command train_command();

// Commands for one purpose.
struct CommandGroup {
  std::string title;
  std::vector<Command> commands;
};

// In the order in which help lists them.
const std::vector<CommandGroup>& command_groups();
const std::vector<Command>& commands();

// Usage error that names the nearest command if there is none of that name.
const Command& find_command(const std::string& name);

}  // namespace sluice::cli
