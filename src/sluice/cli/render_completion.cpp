#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sluice/cli/commands.h"
#include "sluice/cli/render.h"

namespace sluice::cli {
namespace {

std::string long_options(const Command& command) {
  std::vector<std::string> names;
  const DeclaredCommand declared = declare(command);
  for (const CLI::Option* option : declared.app->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

}  // namespace

std::string bash_completion() {
  std::vector<std::string> names;
  std::string cases;
  for (const Command& command : commands()) {
    names.push_back(command.name);
    cases += fmt::format("    {}) options=\"{}\" ;;\n", command.name, long_options(command));
  }
  const std::string all = fmt::format("{}", fmt::join(names, " "));
  return fmt::format(
      R"(# bash completion for sluice, made by "sluice completion bash"
_sluice() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} options=
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "{commands} --help --version" -- "$word")
    return
  fi
  case $previous in
    --isa) mapfile -t COMPREPLY < <(compgen -W "{isas}" -- "$word"); return ;;
    --dtype) mapfile -t COMPREPLY < <(compgen -W "f32 bf16" -- "$word"); return ;;
    help) mapfile -t COMPREPLY < <(compgen -W "{commands}" -- "$word"); return ;;
    completion) mapfile -t COMPREPLY < <(compgen -W "bash" -- "$word"); return ;;
  esac
  case ${{COMP_WORDS[1]}} in
{cases}  esac
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}}
complete -o filenames -F _sluice sluice
)",
      fmt::arg("commands", all), fmt::arg("isas", fmt::join(isa_names(), " ")), fmt::arg("cases", cases));
}

}  // namespace sluice::cli
