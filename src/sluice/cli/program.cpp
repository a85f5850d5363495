#include "sluice/cli/program.h"

#include <fmt/format.h>

#include <ostream>

#include "sluice/base/assert.h"
#include "sluice/base/error.h"
#include "sluice/base/suggest.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/render.h"

namespace sluice::cli {
namespace {

// Options belong behind the command; alone there are but two.
[[noreturn]] void refuse_option(const std::string& option) {
  const std::vector<std::string> known = {"--help", "--version"};
  const std::string suggestion = did_you_mean(option, known);
  throw usage_error(
      {.what = fmt::format("unknown option \"{}\" in place of a command", option),
       .hint = suggestion.empty() ? "options come after the command: sluice COMMAND [options]" : suggestion});
}

// What a shell would take as one word and leave as it is.
bool is_plain_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=,.:/@%";
  return !text.empty() && text.find_first_not_of(kPlain) == std::string::npos;
}

std::string shell_word(const std::string& text) {
  if (is_plain_word(text)) return text;
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') quoted += "'\\'";  // out of the quotes, a quote, and in again
    quoted += c;
  }
  return quoted + "'";
}

std::string command_line_of(const std::vector<std::string>& arguments) {
  std::string line = "sluice";
  for (const std::string& argument : arguments) line += " " + shell_word(argument);
  return line;
}

void dispatch(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& messages) {
  if (arguments.empty()) {
    throw usage_error({.what = "no command given", .hint = "sluice help lists the commands"});
  }
  const std::string& first = arguments.front();
  if (first == "--version" || first == "-V") {
    if (arguments.size() > 1) {
      throw usage_error({.where = first, .what = fmt::format("unexpected argument \"{}\"", arguments[1])});
    }
    out << version_line() << '\n';
    return;
  }
  const bool asks_for_help = first == "--help" || first == "-h";
  if (first.starts_with('-') && !asks_for_help) refuse_option(first);
  DeclaredCommand declared = declare(find_command(asks_for_help ? "help" : first));
  if (declared.options->parse({arguments.begin() + 1, arguments.end()}) == Options::Outcome::HelpAsked) {
    out << help_text(declared);
    return;
  }
  // A set that cannot run is refused even by commands that compute nothing.
  if (!declared.common->isa.empty()) choose_isa(detect_cpu(), declared.common->engine().isa);
  Log log(declared.common->quiet ? LogLevel::Quiet : LogLevel::Normal, messages);
  declared.action({*declared.common, out, log, command_line_of(arguments)});
}

}  // namespace

int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& messages) {
  Log log(LogLevel::Quiet, messages);
  try {
    dispatch(arguments, out, messages);
    if (!out.flush()) throw failure({.where = "standard output", .what = "cannot write the result"});
    return 0;
  } catch (const Error& error) {
    log.error("{}", error.what());
    return error.exit_code();
  } catch (const AssertionError& error) {
    log.error("a bug in sluice, please report it: {}", error.what());
  } catch (const std::exception& error) {
    log.error("{}", error.what());
  }
  return static_cast<int>(ErrorKind::Failed);
}

}  // namespace sluice::cli
