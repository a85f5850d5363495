#include "sluice/base/error.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/render.h"

namespace sluice::cli {
namespace {

struct HelpOptions {
  std::string command;
  bool man = false, markdown = false;
};

std::string text_for(const HelpOptions& request) {
  if (int{request.man} + int{request.markdown} + int{!request.command.empty()} > 1)
    throw usage_error({.where = "help", .what = "COMMAND, --man and --markdown exclude each other"});
  if (request.man) return man_page();
  if (request.markdown) return markdown_reference();
  return request.command.empty() ? overview_text() : help_text(declare(find_command(request.command)));
}

Action declare_help(Options& options) {
  auto request = std::make_shared<HelpOptions>();
  options.argument({.name = "COMMAND", .value = "", .text = "The command to explain (default: an overview)"},
                   Presence::Optional, request->command);
  options.flag("--man", request->man, "Print the manual page, in roff");
  options.flag("--markdown", request->markdown, "Print the reference of all commands, in Markdown");
  return [request](const Session& session) { print_text(session, text_for(*request)); };
}

}  // namespace

Command help_command() {
  return {.name = "help",
          .summary = "Explain the program or one command",
          .description = "Lists the commands, or explains one of them.",
          .examples = {"sluice help", "sluice help doctor", "sluice help --man | man -l -",
                       "sluice help --markdown > docs/commands.md"},
          .declare = declare_help};
}

}  // namespace sluice::cli
