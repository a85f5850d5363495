// The options of one command: declared once, then parsed and described. CLI11 does the parsing; commands do
// not see it, and errors are worded here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sluice::cli {

enum class Presence { Optional, Required };

// An option or argument as a person sees it.
struct OptionDescription {
  std::string name;   // "--threads", or "COMMAND" for an argument
  std::string value;  // what follows the name: "N"; empty for a flag or an argument
  std::string text;
  std::vector<std::string> words = {};     // the values it may have, if these are few
  Presence presence = Presence::Optional;  // of an argument

  bool is_argument() const { return !name.starts_with('-'); }
};

class Options {
 public:
  explicit Options(std::string command);
  ~Options();

  // Targets must live until parse() has returned; they keep their value if the option is not given.
  void flag(const std::string& name, bool& target, const std::string& text);

  struct Integer {
    std::string name, value, text;
    long low = 0, high = 0;
  };
  void integer(const Integer& option, int& target);
  void integer(const Integer& option, std::optional<std::int64_t>& target);

  struct Number {
    std::string name, value, text;
    double low = 0, high = 0;
  };
  void number(const Number& option, double& target);

  void text(const OptionDescription& option, std::string& target);
  void text(const OptionDescription& option, std::optional<std::string>& target);

  // Several values after one name: --data a.txt b.txt. Of a few words if the description lists them.
  void list(const OptionDescription& option, std::vector<std::string>& target);

  // One value after the name, which may be there several times: --special A --special B
  void repeated(const OptionDescription& option, std::vector<std::string>& target);

  // One of a few words.
  void choice(const OptionDescription& option, std::string& target);

  // A flag that may also have one of a few words as its value: --resume, --resume auto, --resume=auto. Alone
  // it sets the target to kFlagAlone.
  static constexpr const char* kFlagAlone = "yes";
  void flag_or_choice(const OptionDescription& option, std::string& target);

  // A word without a name, by position. Of a few words if the description lists them.
  void argument(const OptionDescription& argument, Presence presence, std::string& target);

  // All words without a name that are left; at least one if they are required.
  void arguments(const OptionDescription& argument, Presence presence, std::vector<std::string>& target);

  // Adds --help, which every command has, to the descriptions.
  void describe_help();

  enum class Outcome { Parsed, HelpAsked };

  // Throws a usage error for anything that the command does not take, with the nearest thing that it does.
  Outcome parse(const std::vector<std::string>& arguments);

  const std::vector<OptionDescription>& descriptions() const { return descriptions_; }

 private:
  std::vector<std::string> with_words_joined(std::vector<std::string> arguments) const;
  [[noreturn]] void refuse(const std::string& argument) const;

  std::string command_;
  std::unique_ptr<CLI::App> parser_;
  std::vector<OptionDescription> descriptions_;
  std::vector<OptionDescription> flags_or_choices_;
};

}  // namespace sluice::cli
