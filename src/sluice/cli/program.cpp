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
  declared.action({*declared.common, out, log});
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
