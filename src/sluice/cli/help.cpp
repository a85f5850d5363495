#include <fmt/ranges.h>

#include "sluice/base/error.h"
#include "sluice/base/suggest.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/render.h"
#include "sluice/cli/topics.h"

namespace sluice::cli {
namespace {

struct HelpOptions {
  std::string about;
  bool man = false, markdown = false;
};

std::string text_about(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (command.name == name) return help_text(declare(command));
    names.push_back(command.name);
  }
  if (const std::optional<std::string> text = topic_text(name)) return *text;
  std::vector<std::string> topic_names;
  for (const Topic& topic : topics()) topic_names.push_back(topic.name);
  names.insert(names.end(), topic_names.begin(), topic_names.end());
  const std::string suggestion = did_you_mean(name, names);
  const std::string all =
      fmt::format("topics: {}; sluice help lists the commands", fmt::join(topic_names, ", "));
  throw usage_error({.what = fmt::format("unknown command or topic \"{}\"", name),
                     .hint = suggestion.empty() ? all : suggestion});
}

std::string text_for(const HelpOptions& request) {
  if (int{request.man} + int{request.markdown} + int{!request.about.empty()} > 1)
    throw usage_error({.where = "help", .what = "COMMAND|TOPIC, --man and --markdown exclude each other"});
  if (request.man) return man_page();
  if (request.markdown) return markdown_reference();
  return request.about.empty() ? overview_text() : text_about(request.about);
}

Action declare_help(Options& options) {
  auto request = std::make_shared<HelpOptions>();
  options.argument({.name = "COMMAND|TOPIC",
                    .value = "",
                    .text = "The command or the topic to explain (default: an overview)"},
                   Presence::Optional, request->about);
  options.flag("--man", request->man, "Print the manual page, in roff");
  options.flag("--markdown", request->markdown, "Print the reference of all commands, in Markdown");
  return [request](const Session& session) { print_text(session, text_for(*request)); };
}

}  // namespace

Command help_command() {
  return {
      .name = "help",
      .summary = "Explain the program, a command or a topic",
      .description =
          "Lists commands and topics, or explains one of them. Topics are the documents of docs/ and "
          "the list of presets. A document that is called like a command has its ending: data.md.",
      .examples = {"sluice help", "sluice help doctor", "sluice help models | less", "sluice help presets",
                   "sluice help --man | man -l -", "sluice help --markdown > docs/commands.md"},
      .declare = declare_help};
}

}  // namespace sluice::cli
