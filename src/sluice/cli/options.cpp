#include "sluice/cli/options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "sluice/base/error.h"
#include "sluice/base/suggest.h"

namespace sluice::cli {
namespace {

constexpr int kMaxThreads = 1024;

void add_common_options(CLI::App& app, CommonOptions& options) {
  constexpr const char* kGroup = "Common options";
  app.add_flag("--json", options.json, "Print the result as one JSON object")->group(kGroup);
  app.add_option("--threads", options.threads, "Threads to use (default: all cores)")
      ->type_name("N")
      ->check(integer_between(1, kMaxThreads))
      ->group(kGroup);
  app.add_option("--dtype", options.dtype, "Compute in f32 or bf16 (default: f32)")
      ->type_name("TYPE")
      ->check(one_of({"f32", "bf16"}))
      ->group(kGroup);
  app.add_option("--isa", options.isa,
                 "Instruction set of the kernels (default: SLUICE_ISA, or the best here)")
      ->type_name("NAME")
      ->check(one_of(isa_names()))
      ->group(kGroup);
  app.add_flag("--quiet", options.quiet, "Say nothing on stderr but errors")->group(kGroup);
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

Error unexpected(const DeclaredCommand& declared, const std::string& argument) {
  const std::string help = fmt::format("sluice help {} lists what it takes", declared.command.name);
  if (!argument.starts_with('-')) {
    return usage_error({.where = declared.command.name,
                        .what = fmt::format("unexpected argument \"{}\"", argument),
                        .hint = help});
  }
  const std::string option = argument.substr(0, argument.find('='));
  const std::string suggestion = did_you_mean(option, option_names(*declared.app));
  return usage_error({.where = declared.command.name,
                      .what = fmt::format("unknown option \"{}\"", option),
                      .hint = suggestion.empty() ? help : suggestion});
}

}  // namespace

CLI::Validator integer_between(long low, long high) {
  return CLI::Validator(
      [low, high](const std::string& text) -> std::string {
        long value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool whole = error == std::errc() && end == text.data() + text.size();
        if (whole && value >= low && value <= high) return {};
        return fmt::format("expected integer from {} to {}, got \"{}\"", low, high, text);
      },
      "");
}

CLI::Validator one_of(std::vector<std::string> words) {
  return CLI::Validator(
      [words = std::move(words)](const std::string& text) -> std::string {
        if (std::ranges::find(words, text) != words.end()) return {};
        const std::string suggestion = did_you_mean(text, words);
        return fmt::format("expected one of {}, got \"{}\"{}", fmt::join(words, ", "), text,
                           suggestion.empty() ? "" : " (" + suggestion + ")");
      },
      "");
}

DeclaredCommand declare(const Command& command) {
  auto app = std::make_unique<CLI::App>(command.summary, "sluice " + command.name);
  app->set_help_flag("-h,--help", "Show this help")->group("Common options");
  app->allow_extras();  // so that unexpected() words the error, not CLI11
  auto common = std::make_shared<CommonOptions>();
  Action action = command.declare(*app);
  add_common_options(*app, *common);
  return {command, std::move(app), std::move(common), std::move(action)};
}

Parsed parse(DeclaredCommand& declared, const std::vector<std::string>& arguments) {
  try {
    // CLI11 takes its arguments last first.
    declared.app->parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return Parsed::ShowHelp;
  } catch (const CLI::ParseError& error) {
    const bool mistyped = !declared.app->remaining().empty();
    if (mistyped) throw unexpected(declared, declared.app->remaining().front());
    throw usage_error({.where = declared.command.name, .what = error.what()});
  }
  if (const auto extras = declared.app->remaining(); !extras.empty())
    throw unexpected(declared, extras.front());
  return Parsed::Run;
}

}  // namespace sluice::cli
