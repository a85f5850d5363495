#include <ostream>

#include "sluice/cli/commands.h"
#include "sluice/cli/render.h"

namespace sluice::cli {
namespace {

Action declare_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("shell", *shell, "The shell; bash is the one supported")
      ->type_name("SHELL")
      ->required()
      ->check(one_of({"bash"}));
  return [shell](const Session& session) { session.out << bash_completion(); };
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
