#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "sluice/base/build_info.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/render.h"
#include "sluice/cli/topics.h"
#include "sluice/dist/mpi/mpi_ranks.h"

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

// "  name   text", the text filled beside a column of names.
std::string entry(const std::string& name, const std::string& text, size_t name_width) {
  const size_t indent = name_width + 4;
  std::string body = filled(text, indent);
  body.replace(0, std::min(indent, body.size()), fmt::format("  {:<{}}  ", name, name_width));
  return body;
}

std::string entries(const std::vector<OptionDescription>& options) {
  size_t width = 0;
  for (const auto& option : options) width = std::max(width, signature(option).size());
  std::string text;
  for (const auto& option : options) text += entry(signature(option), option.text, width);
  return text;
}

std::vector<OptionDescription> select(const DeclaredCommand& declared, bool arguments) {
  std::vector<OptionDescription> selected;
  for (const auto& option : declared.options->descriptions()) {
    if (option.is_argument() == arguments) selected.push_back(option);
  }
  return selected;
}

}  // namespace

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

std::string version_line() {
  return fmt::format("sluice {}", build_info().version);
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

void print_text(const Session& session, const std::string& text) {
  session.out << (session.options.json ? nlohmann::json{{"text", text}}.dump(2) + "\n" : text);
}

std::string signature(const OptionDescription& option) {
  return option.value.empty() ? option.name : option.name + " " + option.value;
}

std::string usage_line(const DeclaredCommand& declared) {
  std::string line = "sluice " + declared.command.name;
  for (const OptionDescription& argument : select(declared, true))
    line += argument.presence == Presence::Required ? " " + argument.name : " [" + argument.name + "]";
  return line + " [options]";
}

std::string overview_text() {
  std::string text = "Sluice: a laboratory for gated attention in language models.\n\n";
  text +=
      "Usage: sluice COMMAND [options]\n       sluice help COMMAND|TOPIC\n       sluice "
      "--version\n\nCommands:\n";
  size_t width = 0;
  for (const Command& command : commands()) width = std::max(width, command.name.size());
  for (const Command& command : commands()) text += entry(command.name, command.summary, width);
  text += "\nTopics, explained by sluice help TOPIC:\n";
  const std::vector<Topic> all = topics();
  for (const Topic& topic : all) width = std::max(width, topic.name.size());
  for (const Topic& topic : all) text += entry(topic.name, topic.title, width);
  text += "\nExit codes:\n";
  for (const auto& [code, meaning] : exit_codes()) text += entry(std::to_string(code), meaning, 3);
  return text;
}

std::string help_text(const DeclaredCommand& declared) {
  std::string text = filled(declared.command.description, 0);
  if (declared.command.processes == Processes::Ranks && mpi_library().empty())
    text += "\nThis sluice is built without MPI: it runs in one process (sluice help cluster).\n";
  text += "\nUsage: " + usage_line(declared) + "\n";
  if (const auto arguments = select(declared, true); !arguments.empty()) {
    text += "\nArguments:\n" + entries(arguments);
  }
  text += "\nOptions:\n" + entries(select(declared, false));
  if (!declared.command.examples.empty()) text += "\nExamples:\n";
  for (const std::string& example : declared.command.examples) text += "  " + example + "\n";
  return text;
}

}  // namespace sluice::cli
