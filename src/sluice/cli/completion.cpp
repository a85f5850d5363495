#include "sluice/cli/commands.h"
#include "sluice/cli/render.h"

namespace sluice::cli {
namespace {

Action declare_completion(Options& options) {
  auto shell = std::make_shared<std::string>();
  options.argument({.name = "SHELL", .value = "", .text = "The shell: bash is supported", .words = {"bash"}},
                   Presence::Required, *shell);
  return [shell](const Session& session) { print_text(session, bash_completion()); };
}

}  // namespace

Command completion_command() {
  return {.name = "completion",
          .summary = "Print a completion script for the shell",
          .description =
              "Prints a script that makes the shell complete sluice's commands and options. "
              "An installed sluice has it in place already.",
          .examples = {"source <(sluice completion bash)"},
          .declare = declare_completion};
}

}  // namespace sluice::cli
