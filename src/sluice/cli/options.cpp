#include "sluice/cli/options.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "sluice/base/error.h"
#include "sluice/base/suggest.h"

namespace sluice::cli {
namespace {

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

CLI::Validator number_between(double low, double high) {
  return CLI::Validator(
      [low, high](const std::string& text) -> std::string {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool whole = error == std::errc() && end == text.data() + text.size();
        if (whole && value >= low && value <= high) return {};
        return fmt::format("expected number from {} to {}, got \"{}\"", low, high, text);
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

// CLI11 counts values ("1 required N missing"); a person wants to know what is expected. Its other messages
// come from the validators above or name the option already.
std::string reworded(const CLI::ParseError& error) {
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr) return text;
  return text.substr(0, text.find(':')) + ": expected one value";
}

}  // namespace

Options::Options(std::string command)
    : command_(std::move(command)), parser_(std::make_unique<CLI::App>("", "sluice " + command_)) {
  parser_->set_help_flag("-h,--help");
  parser_->allow_extras();  // so that refuse() words the error
}

Options::~Options() = default;

void Options::flag(const std::string& name, bool& target, const std::string& text) {
  parser_->add_flag(name, target);
  descriptions_.push_back({.name = name, .value = "", .text = text});
}

void Options::integer(const Integer& option, int& target) {
  parser_->add_option(option.name, target)
      ->type_name(option.value)
      ->check(integer_between(option.low, option.high));
  descriptions_.push_back({.name = option.name, .value = option.value, .text = option.text});
}

void Options::integer(const Integer& option, std::optional<std::int64_t>& target) {
  const auto keep = [&target](std::int64_t value) { target = value; };
  parser_->add_option_function<std::int64_t>(option.name, keep)
      ->type_name(option.value)
      ->check(integer_between(option.low, option.high));
  descriptions_.push_back({.name = option.name, .value = option.value, .text = option.text});
}

void Options::number(const Number& option, double& target) {
  parser_->add_option(option.name, target)
      ->type_name(option.value)
      ->check(number_between(option.low, option.high));
  descriptions_.push_back({.name = option.name, .value = option.value, .text = option.text});
}

void Options::text(const OptionDescription& option, std::string& target) {
  parser_->add_option(option.name, target)->type_name(option.value);
  descriptions_.push_back(option);
}

void Options::text(const OptionDescription& option, std::optional<std::string>& target) {
  const auto keep = [&target](const std::string& value) { target = value; };
  parser_->add_option_function<std::string>(option.name, keep)->type_name(option.value);
  descriptions_.push_back(option);
}

void Options::list(const OptionDescription& option, std::vector<std::string>& target) {
  CLI::Option* added =
      parser_->add_option(option.name, target)->type_name(option.value)->expected(1, 1 << 20);
  if (!option.words.empty()) added->check(one_of(option.words));
  descriptions_.push_back(option);
}

void Options::repeated(const OptionDescription& option, std::vector<std::string>& target) {
  parser_->add_option(option.name, target)
      ->type_name(option.value)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      // Where CLI11 allows extra values it also takes "[a,b]" apart, and [PAD] is a name of tokens.
      ->allow_extra_args(false);
  descriptions_.push_back(option);
}

void Options::choice(const OptionDescription& option, std::string& target) {
  parser_->add_option(option.name, target)->type_name(option.value)->check(one_of(option.words));
  descriptions_.push_back(option);
}

void Options::flag_or_choice(const OptionDescription& option, std::string& target) {
  const auto check = [words = one_of(option.words)](const std::string& text) {
    return text == kFlagAlone ? std::string() : words(text);
  };
  // CLI11 takes the value of a flag that stands alone from the braces behind its name.
  parser_->add_flag(fmt::format("{}{{{}}}", option.name, kFlagAlone), target)->check(check);
  descriptions_.push_back(option);
  flags_or_choices_.push_back(option);
}

// "--resume", "auto" become "--resume=auto": to CLI11 what follows a flag is an argument of its own.
std::vector<std::string> Options::with_words_joined(std::vector<std::string> arguments) const {
  for (const OptionDescription& option : flags_or_choices_) {
    for (size_t i = 0; i + 1 < arguments.size(); ++i) {
      if (arguments[i] != option.name) continue;
      if (std::ranges::find(option.words, arguments[i + 1]) == option.words.end()) continue;
      arguments[i] += "=" + arguments[i + 1];
      arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  }
  return arguments;
}

void Options::argument(const OptionDescription& argument, Presence presence, std::string& target) {
  CLI::Option* added = parser_->add_option(argument.name, target)->required(presence == Presence::Required);
  if (!argument.words.empty()) added->check(one_of(argument.words));
  descriptions_.push_back(argument);
  descriptions_.back().presence = presence;
}

void Options::arguments(const OptionDescription& argument, Presence presence,
                        std::vector<std::string>& target) {
  parser_->add_option(argument.name, target)->required(presence == Presence::Required);
  descriptions_.push_back(argument);
  descriptions_.back().presence = presence;
}

void Options::describe_help() {
  descriptions_.push_back({.name = "--help", .value = "", .text = "Show this help"});
}

Options::Outcome Options::parse(const std::vector<std::string>& arguments) {
  try {
    // CLI11 takes its arguments last first.
    const std::vector<std::string> joined = with_words_joined(arguments);
    parser_->parse(std::vector<std::string>(joined.rbegin(), joined.rend()));
  } catch (const CLI::CallForHelp&) {
    return Outcome::HelpAsked;
  } catch (const CLI::ParseError& error) {
    // A mistyped option is the likelier reason for whatever else is missing then.
    if (!parser_->remaining().empty()) refuse(parser_->remaining().front());
    throw usage_error({.where = command_, .what = reworded(error)});
  }
  if (!parser_->remaining().empty()) refuse(parser_->remaining().front());
  return Outcome::Parsed;
}

void Options::refuse(const std::string& argument) const {
  const bool is_option = argument.starts_with('-');
  const std::string word = is_option ? argument.substr(0, argument.find('=')) : argument;
  std::vector<std::string> names;
  for (const OptionDescription& option : descriptions_) names.push_back(option.name);
  const std::string suggestion = is_option ? did_you_mean(word, names) : "";
  throw usage_error(
      {.where = command_,
       .what = fmt::format("{} \"{}\"", is_option ? "unknown option" : "unexpected argument", word),
       .hint =
           suggestion.empty() ? fmt::format("sluice help {} lists what it takes", command_) : suggestion});
}

}  // namespace sluice::cli
