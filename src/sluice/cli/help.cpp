#include "sluice/cli/commands.h"
#include "sluice/cli/render.h"

namespace sluice::cli {
namespace {

struct Request {
  std::string command;
  bool man = false;
};

Action declare_help(Options& options) {
  auto request = std::make_shared<Request>();
  options.argument({.name = "COMMAND", .value = "", .text = "The command to explain (default: an overview)"},
                   Presence::Optional, request->command);
  options.flag("--man", request->man, "Print the manual page, in roff");
  return [request](const Session& session) {
    if (request->man) {
      print_text(session, man_page());
    } else if (request->command.empty()) {
      print_text(session, overview_text());
    } else {
      print_text(session, help_text(declare(find_command(request->command))));
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
