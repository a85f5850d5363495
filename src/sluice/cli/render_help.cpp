#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sluice/cli/commands.h"
#include "sluice/cli/render.h"

namespace sluice::cli {
namespace {

constexpr size_t kWidth = 80;

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text + " ") {
    if (c != ' ' && c != '\n') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  return words;
}

// Text filled to the width of a terminal, every line indented.
std::string filled(const std::string& text, size_t indent) {
  std::string lines;
  size_t column = kWidth;  // full: the first word starts a line
  for (const std::string& word : words_of(text)) {
    if (column + 1 + word.size() > kWidth) {
      if (!lines.empty()) lines += '\n';
      lines += std::string(indent, ' ') + word;
      column = indent + word.size();
    } else {
      lines += ' ' + word;
      column += 1 + word.size();
    }
  }
  return lines + '\n';
}

// "  name   text", the text filled beside a column of names.
std::string entry(const std::string& name, const std::string& text, size_t name_width) {
  const size_t indent = name_width + 4;
  std::string body = filled(text, indent);
  body.replace(0, std::min(indent, body.size()), fmt::format("  {:<{}}  ", name, name_width));
  return body;
}

std::string entries(const std::vector<OptionDescription>& options, bool positional) {
  size_t width = 0;
  for (const auto& option : options) width = std::max(width, option.names.size());
  std::string text;
  for (const auto& option : options) {
    if (option.positional == positional) text += entry(option.names, option.text, width);
  }
  return text;
}

std::string names_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_type_name();
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  const std::string value = option.get_type_size() == 0 ? "" : " " + option.get_type_name();
  return fmt::format("{}{}", fmt::join(names, ", "), value);
}

}  // namespace

std::string version_line() {
  return "sluice " SLUICE_VERSION;
}

const std::vector<ExitCodeDescription>& exit_codes() {
  static const std::vector<ExitCodeDescription> codes = {
      {0, "done"},
      {1, "failed"},
      {2, "usage: an unknown command or option, a bad value, an instruction set this machine lacks"},
      {3, "bad input: a file, configuration, checkpoint or data that cannot be used"},
      {130, "interrupted"}};
  return codes;
}

std::vector<OptionDescription> describe_options(const DeclaredCommand& declared) {
  std::vector<OptionDescription> descriptions;
  for (const CLI::Option* option : declared.app->get_options()) {
    descriptions.push_back({names_of(*option), option->get_description(), option->get_positional()});
  }
  // Help stands first in CLI11's list; a reader looks for it last.
  std::ranges::rotate(descriptions, descriptions.begin() + 1);
  return descriptions;
}

std::string usage_line(const DeclaredCommand& declared) {
  std::string line = "sluice " + declared.command.name;
  for (const auto& option : describe_options(declared)) {
    if (option.positional) line += " [" + option.names + "]";
  }
  return line + " [options]";
}

std::string overview_text() {
  std::string text = "Sluice: a laboratory for gated attention in language models.\n\n";
  text +=
      "Usage: sluice COMMAND [options]\n       sluice help COMMAND\n       sluice --version\n\nCommands:\n";
  size_t width = 0;
  for (const Command& command : commands()) width = std::max(width, command.name.size());
  for (const Command& command : commands()) text += entry(command.name, command.summary, width);
  text += "\nExit codes:\n";
  for (const auto& [code, meaning] : exit_codes()) text += entry(std::to_string(code), meaning, 3);
  return text;
}

std::string help_text(const DeclaredCommand& declared) {
  const auto options = describe_options(declared);
  std::string text = filled(declared.command.description, 0);
  text += "\nUsage: " + usage_line(declared) + "\n";
  if (const std::string arguments = entries(options, true); !arguments.empty())
    text += "\nArguments:\n" + arguments;
  text += "\nOptions:\n" + entries(options, false);
  if (!declared.command.examples.empty()) text += "\nExamples:\n";
  for (const std::string& example : declared.command.examples) text += "  " + example + "\n";
  return text;
}

}  // namespace sluice::cli
