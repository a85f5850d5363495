#include "sluice/cli/commands.h"
#include "sluice/cli/use_case.h"
#include "sluice/model/config_reader.h"
#include "sluice/model/count_report.h"

namespace sluice::cli {
namespace {

Action declare_params(Options& options) {
  auto path = std::make_shared<std::string>();
  options.argument(
      {.name = "CONFIG|MODEL",
       .value = "",
       .text = "A config.json, a directory that has one (a model, or a run: its best checkpoint), or a "
               "preset's name"},
      Presence::Required, *path);
  return [path](const Session& session) {
    print_result(session, count_model(load_model_config(*path, job_control(session))));
  };
}

}  // namespace

Command params_command() {
  return {.name = "params",
          .summary = "Count a model's parameters and arithmetic",
          .description =
              "Counts parameters by part, floating-point operations per token, and what the gates add, from "
              "the configuration alone.",
          .examples = {"sluice params 1b-elementwise", "sluice params path/to/model --json"},
          .declare = declare_params};
}

}  // namespace sluice::cli
