#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "sluice/cli/commands.h"
#include "sluice/cli/render.h"
#include "sluice/cli/topics.h"

namespace sluice::cli {
namespace {

// Lines of a shell `case`: what may follow a word.
struct Cases {
  std::string after_option;  // --isa) …: the values of an option
  std::string of_command;    // doctor) …: its options
  std::string of_argument;   // completion) …: the words of its argument
};

Cases cases_of(const std::vector<Command>& table) {
  Cases cases;
  std::map<std::string, std::string> values;  // common options appear in every command
  for (const Command& command : table) {
    const DeclaredCommand declared = declare(command);
    std::string names;
    for (const auto& option : declared.options->descriptions()) {
      const std::string words = fmt::format("{}", fmt::join(option.words, " "));
      if (option.is_argument()) {
        if (!words.empty())
          cases.of_argument += fmt::format("    {}) words=\"{}\" ;;\n", command.name, words);
      } else {
        names += (names.empty() ? "" : " ") + option.name;
        if (!words.empty()) values[option.name] = words;
      }
    }
    cases.of_command += fmt::format("    {}) options=\"{}\" ;;\n", command.name, names);
  }
  for (const auto& [name, words] : values)
    cases.after_option += fmt::format("    {}) words=\"{}\" ;;\n", name, words);
  return cases;
}

constexpr const char* kScript = R"(# bash completion for sluice, made by "sluice completion bash"
_sluice() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words= options=
  case ${{COMP_WORDS[COMP_CWORD - 1]}} in
{after_option}  esac
  case ${{COMP_WORDS[1]}} in
{of_command}  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{commands} --help --version"
  elif [ -z "$words" ] && [[ $word == -* ]]; then
    words=$options
  elif [ -z "$words" ] && [ "$COMP_CWORD" -eq 2 ]; then
    case ${{COMP_WORDS[1]}} in
    help) words="{commands} {topics}" ;;
{of_argument}    esac
  fi
  if [ -n "$words" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}}
complete -o filenames -F _sluice sluice
)";

}  // namespace

std::string bash_completion() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.push_back(command.name);
  std::vector<std::string> topic_names;
  for (const Topic& topic : topics()) topic_names.push_back(topic.name);
  const Cases cases = cases_of(commands());
  return fmt::format(fmt::runtime(kScript), fmt::arg("commands", fmt::format("{}", fmt::join(names, " "))),
                     fmt::arg("topics", fmt::format("{}", fmt::join(topic_names, " "))),
                     fmt::arg("after_option", cases.after_option), fmt::arg("of_command", cases.of_command),
                     fmt::arg("of_argument", cases.of_argument));
}

}  // namespace sluice::cli
