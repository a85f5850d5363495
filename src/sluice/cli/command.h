// What a command is: a row of the command table. Each command lives in a file of its own.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "sluice/base/log.h"
#include "sluice/cli/options.h"
#include "sluice/ops/engine.h"

namespace sluice::cli {

// Options that every command takes.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  int threads = 0;    // 0: all cores
  std::string dtype;  // empty: the command's own default
  std::string isa;    // empty: SLUICE_ISA, or the best

  EngineOptions engine() const { return {.threads = threads, .isa = {.name = isa, .source = "--isa"}}; }
};

// What a command runs with.
struct Session {
  const CommonOptions& options;
  std::ostream& out;              // results
  Log& log;                       // everything else
  std::string command_line = {};  // as one would type it again, for reports
};

using Action = std::function<void(const Session&)>;

struct Command {
  std::string name;
  std::string summary;      // one line, for the list of commands
  std::string description;  // a paragraph, for its own help
  std::vector<std::string> examples;

  // What --dtype means to it.
  struct Dtype {
    std::string text = "Compute in f32 or bf16 (default: f32)";
    std::vector<std::string> words = {"f32", "bf16"};
  };
  Dtype dtype = {};

  // Adds the command's own options; the action runs after they are parsed.
  std::function<Action(Options&)> declare;
};

// A command with its options, ready to be parsed for or described.
struct DeclaredCommand {
  const Command& command;
  std::unique_ptr<CommonOptions> common;
  std::unique_ptr<Options> options;
  Action action;
};

DeclaredCommand declare(const Command& command);

}  // namespace sluice::cli
