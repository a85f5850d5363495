#include "sluice/cli/program.h"

#include <fmt/format.h>

#include <chrono>
#include <new>
#include <ostream>
#include <streambuf>
#include <thread>

#include "sluice/base/assert.h"
#include "sluice/base/error.h"
#include "sluice/base/interrupt.h"
#include "sluice/base/stopwatch.h"
#include "sluice/base/suggest.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/render.h"
#include "sluice/dist/fingerprint.h"
#include "sluice/dist/mpi/mpi_ranks.h"

namespace sluice::cli {
namespace {

// How long a launcher may take to end processes of which one has failed, on a busy machine.
constexpr double kLauncherTakes = 4;  // seconds

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

// Takes everything and keeps nothing.
class NullBuffer final : public std::streambuf {
  int_type overflow(int_type character) override { return traits_type::not_eof(character); }
  std::streamsize xsputn(const char*, std::streamsize count) override { return count; }
};

// The processes of this job, as far as it has several.
struct Group {
  Launch launch = launch_of_process();
  std::unique_ptr<Ranks> ranks = {};  // none before MPI has started, or if it is not needed

  bool is_first() const { return launch.rank == 0; }
};

// Joins the others, if the command works together with them.
void join(Group& group, const DeclaredCommand& declared, Log& errors) {
  if (group.launch.size == 1) return;
  if (declared.command.processes == Processes::One) {
    throw usage_error(
        {.where = group.launch.by,
         .what = fmt::format("{} runs in one process", declared.command.name),
         .hint =
             "train, bench scale and bench ranks take several together, sweep, ablate and gates share out "
             "their work"});
  }
  if (declared.common->threads == 0) {
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    declared.common->threads = threads_per_process(group.launch, usable_cores(), cores);
  }
  if (declared.command.processes != Processes::Ranks) return;
  group.ranks = start_mpi(group.launch, errors);
  check_same_version(*group.ranks);
}

struct Streams {
  std::ostream& out;
  std::ostream& nowhere;
  std::ostream& messages;
};

void dispatch(const std::vector<std::string>& arguments, const Streams& streams, Group& group, Log& errors) {
  // What is the same from every process is told by the first.
  std::ostream& out = group.is_first() ? streams.out : streams.nowhere;
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
  join(group, declared, errors);
  const bool is_quiet = declared.common->quiet || (group.ranks && !group.ranks->is_first());
  Log log(is_quiet ? LogLevel::Quiet : LogLevel::Normal, streams.messages);
  const bool tells = declared.command.processes == Processes::Pieces;  // whoever has the result
  declared.action({*declared.common, tells ? streams.out : out, log, command_line_of(arguments),
                   group.ranks ? *group.ranks : alone(), group.launch});
}

// An error as the caller of the program sees it.
struct Failure {
  int exit_code = 0;  // 0: none
  std::string line = {};
};

Failure attempt(const std::vector<std::string>& arguments, const Streams& streams, Group& group,
                Log& errors) {
  try {
    dispatch(arguments, streams, group, errors);
    if (!streams.out.flush()) throw failure({.where = "standard output", .what = "cannot write the result"});
    return {};
  } catch (const Error& error) {
    return {error.exit_code(), error.what()};
  } catch (const AssertionError& error) {
    return {1, fmt::format("a bug in sluice, please report it: {}", error.what())};
  } catch (const std::bad_alloc&) {
    return {1, "out of memory"};
  } catch (const std::exception& error) {
    return {1, error.what()};
  }
}

// Every rank ends here. An error of all is told once; one that the others know nothing about ends them, too.
void end_ranks(Ranks& ranks, const Failure& failure, Log& errors) {
  const Ranks::Ending ending = ranks.end(failure.line);
  if (failure.exit_code == 0) return;
  const bool is_own = ending.others_go_on || !ranks.is_first();
  const std::string who = is_own ? ranks.name_of(ranks.rank()) + ": " : "";
  const std::string note = ending.note.empty() ? "" : "; " + ending.note;
  if (ending.tells) errors.error("{}{}{}", who, failure.line, note);
  if (ending.others_go_on) ranks.abandon(failure.exit_code);
}

// Of a process that has not met the others. What is wrong with the command line is as a rule wrong for all:
// the first tells, and the launcher ends the others. Who is still there seconds later has a command line of
// its own.
void tell_alone(const Group& group, const Failure& failure, Log& errors) {
  const bool is_usage = failure.exit_code == static_cast<int>(ErrorKind::Usage);
  if (!is_usage || group.is_first()) return errors.error("{}", failure.line);
  const Stopwatch watch;
  while (watch.seconds() < kLauncherTakes) {
    if (is_interrupted()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  errors.error("rank {}: {}", group.launch.rank, failure.line);
}

}  // namespace

int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& messages) {
  Log errors(LogLevel::Quiet, messages);
  Group group;
  NullBuffer swallows;
  std::ostream nowhere(&swallows);
  const Failure failure = attempt(arguments, {out, nowhere, messages}, group, errors);
  if (group.ranks) {
    end_ranks(*group.ranks, failure, errors);
  } else if (failure.exit_code != 0) {
    tell_alone(group, failure, errors);
  }
  return failure.exit_code;
}

}  // namespace sluice::cli
