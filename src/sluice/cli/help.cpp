#include <ostream>

#include "sluice/cli/commands.h"
#include "sluice/cli/render.h"

namespace sluice::cli {
namespace {

struct Options {
  std::string command;
  bool man = false;
};

Action declare_help(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("command", options->command, "The command to explain")->type_name("COMMAND");
  app.add_flag("--man", options->man, "Print the manual page, in roff");
  return [options](const Session& session) {
    if (options->man) {
      session.out << man_page();
    } else if (options->command.empty()) {
      session.out << overview_text();
    } else {
      session.out << help_text(declare(find_command(options->command)));
    }
  };
}

}  // namespace

Command help_command() {
  return {.name = "help",
          .summary = "Explain the program or one command",
          .description = "Lists the commands, or explains one of them.",
          .examples = {"sluice help", "sluice help doctor", "sluice help --man | man -l -"},
          .declare = declare_help};
}

}  // namespace sluice::cli
