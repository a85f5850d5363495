#include "sluice/cli/command.h"

namespace sluice::cli {
namespace {

void add_common_options(Options& options, const Command& command, CommonOptions& common) {
  constexpr long kMaxThreads = 1024;
  options.flag("--json", common.json, "Print the result as one JSON object");
  options.integer({.name = "--threads",
                   .value = "N",
                   .text = "Threads to use (default: all cores)",
                   .low = 1,
                   .high = kMaxThreads},
                  common.threads);
  options.choice(
      {.name = "--dtype", .value = "TYPE", .text = command.dtype.text, .words = command.dtype.words},
      common.dtype);
  options.choice(
      {.name = "--isa",
       .value = "NAME",
       .text = "Instruction set of the kernels: scalar, avx2, avx512, avx512bf16 or amx (default: the "
               "environment variable SLUICE_ISA, or else the best that this CPU has)",
       .words = isa_names()},
      common.isa);
  options.flag("--quiet", common.quiet, "Print nothing on stderr but errors");
}

}  // namespace

DeclaredCommand declare(const Command& command) {
  DeclaredCommand declared{
      command, std::make_unique<CommonOptions>(), std::make_unique<Options>(command.name), {}};
  declared.action = command.declare(*declared.options);
  add_common_options(*declared.options, command, *declared.common);
  declared.options->describe_help();
  return declared;
}

}  // namespace sluice::cli
