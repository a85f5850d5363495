// What a command is: a row of the command table. Each command lives in a file of its own.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "sluice/base/log.h"
#include "sluice/cli/options.h"
#include "sluice/dist/launch.h"
#include "sluice/dist/ranks.h"
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
  std::ostream& out;              // results; of other ranks than the first they go nowhere
  Log& log;                       // everything else; likewise
  std::string command_line = {};  // as one would type it again, for reports
  Ranks& ranks = alone();         // of a command that takes several together
  Launch launch = {};             // of a command that shares out pieces
};

using Action = std::function<void(const Session&)>;

// What a command makes of several processes that mpirun or srun has started.
enum class Processes {
  One,    // it refuses them: each would do the same
  Ranks,  // they work together, by MPI
  Pieces  // each takes pieces of the work that nobody has taken; no MPI is needed
};

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
  Processes processes = Processes::One;

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
