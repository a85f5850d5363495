#include <fmt/format.h>

#include <algorithm>

#include "sluice/cli/commands.h"
#include "sluice/cli/render.h"

namespace sluice::cli {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// Text that stays what it is: "<|end|>" is no tag.
std::string table_escaped(const std::string& text) {
  return replaced(replaced(text, "<", "&lt;"), "*", "\\*");
}

// In a table a bar ends a cell, even inside code.
std::string row(const std::string& name, const std::string& text) {
  return fmt::format("| {} | {} |\n", replaced(name, "|", "\\|"), replaced(text, "|", "\\|"));
}

std::string table(const std::string& name, const std::string& text, const std::string& rows) {
  return fmt::format("{}|---|---|\n{}\n", row(name, text), rows);
}

std::string code(const std::string& text) {
  return "`" + text + "`";
}

std::string option_rows(const std::vector<OptionDescription>& options) {
  std::string rows;
  for (const OptionDescription& option : options)
    rows += row(code(signature(option)), table_escaped(option.text));
  return rows;
}

bool has(const std::vector<OptionDescription>& options, const OptionDescription& wanted) {
  return std::ranges::any_of(options, [&](const OptionDescription& option) {
    return option.name == wanted.name && option.text == wanted.text;
  });
}

// What every command takes, as commands describe it that do not change its meaning.
std::vector<OptionDescription> common_options() {
  const Command bare{
      .name = "", .summary = "", .description = "", .examples = {}, .declare = [](Options&) -> Action {
        return {};
      }};
  return declare(bare).options->descriptions();
}

std::string anchor(const Command& command) {
  return fmt::format("[{0}](#sluice-{0})", command.name);
}

std::string overview() {
  std::string rows;
  for (const CommandGroup& group : command_groups()) {
    rows += row("**" + group.title + "**", "");
    for (const Command& command : group.commands)
      rows += row(anchor(command), table_escaped(command.summary));
  }
  return table("command", "what it does", rows);
}

std::string section(const DeclaredCommand& declared, const std::vector<OptionDescription>& common) {
  std::vector<OptionDescription> own;
  for (const OptionDescription& option : declared.options->descriptions())
    if (!has(common, option)) own.push_back(option);
  const std::string options = own.empty() ? "" : table("argument or option", "meaning", option_rows(own));
  std::string examples;
  for (const std::string& example : declared.command.examples) examples += example + "\n";
  return fmt::format("### sluice {}\n\n{}\n\n```\n{}\n```\n\n{}```sh\n{}```\n\n", declared.command.name,
                     table_escaped(declared.command.description), usage_line(declared), options, examples);
}

std::string exit_code_table() {
  std::string rows;
  for (const auto& [number, meaning] : exit_codes())
    rows += row(std::to_string(number), table_escaped(meaning));
  return table("exit code", "meaning", rows);
}

}  // namespace

std::string markdown_reference() {
  const std::vector<OptionDescription> common = common_options();
  std::string text = "<!-- Made by: sluice help --markdown > docs/commands.md -->\n# Commands\n\n" +
                     overview() +
                     "Every command takes these options; where one means something else to a command, its "
                     "section says so.\n\n" +
                     table("option", "meaning", option_rows(common)) + exit_code_table();
  for (const CommandGroup& group : command_groups()) {
    text += fmt::format("## {}\n\n", group.title);
    for (const Command& command : group.commands) text += section(declare(command), common);
  }
  text.pop_back();  // the last empty line
  return text;
}

}  // namespace sluice::cli
