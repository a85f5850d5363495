#include "sluice/bench/machine.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/use_case.h"
#include "sluice/dist/mpi/mpi_ranks.h"

namespace sluice::cli {
namespace {

Action declare_doctor(Options& options) {
  auto request = std::make_shared<bench::MachineRequest>();
  options.flag("--measure", request->measure,
               "Also measure the arithmetic peaks and the memory bandwidth (seconds)");
  return [request](const Session& session) {
    Engine engine(session.options.engine());
    request->mpi = mpi_library();
    print_result(session, bench::describe_machine(engine, *request, job_control(session)));
  };
}

}  // namespace

Command doctor_command() {
  return {.name = "doctor",
          .summary = "Show what this machine offers and what sluice uses of it",
          .description =
              "Shows the version, the CPU's features, the instruction set that the kernels will use and "
              "why, threads and memory, and whether it is built with MPI. With --measure also the machine's "
              "peaks, medians of nine repetitions: "
              "arithmetic in registers and in tiles, reads from memory.",
          .examples = {"sluice doctor", "sluice doctor --measure --json", "sluice doctor --isa scalar"},
          .declare = declare_doctor};
}

}  // namespace sluice::cli
