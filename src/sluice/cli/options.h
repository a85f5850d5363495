// Parsing of one command's arguments: the common options, and errors that name the nearest valid option.
#pragma once

#include <memory>

#include "sluice/cli/command.h"

namespace sluice::cli {

// A command with its parser, ready to parse or to be described.
struct DeclaredCommand {
  const Command& command;
  std::unique_ptr<CLI::App> app;
  std::shared_ptr<CommonOptions> common;
  Action action;
};

DeclaredCommand declare(const Command& command);

enum class Parsed { Run, ShowHelp };

// Throws a usage error for anything that the command does not take.
Parsed parse(DeclaredCommand& declared, const std::vector<std::string>& arguments);

// For CLI11's check(): an integer between two bounds, said in our words.
CLI::Validator integer_between(long low, long high);

// Also for check(): one of a few words, with a suggestion for a mistyped one.
CLI::Validator one_of(std::vector<std::string> words);

}  // namespace sluice::cli
