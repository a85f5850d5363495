#include "sluice/cli/commands.h"
#include "sluice/cli/use_case.h"
#include "sluice/model/config_reader.h"
#include "sluice/model/random_model.h"

namespace sluice::cli {
namespace {

struct InitOptions {
  std::string config, out;
  int seed = 0;
};

void run(const InitOptions& request, const Session& session) {
  const RandomModel model{.config = load_model_config(request.config, job_control(session)),
                          .seed = static_cast<uint64_t>(request.seed),
                          .dtype = session.options.dtype == "bf16" ? StoredType::BF16 : StoredType::F32};
  print_result(session, write_random_model(model, Threads(session.options.threads), request.out,
                                           job_control(session)));
}

Action declare_init(Options& options) {
  auto request = std::make_shared<InitOptions>();
  options.argument(
      {.name = "CONFIG", .value = "", .text = "A config.json, a directory with one, or a preset's name"},
      Presence::Required, request->config);
  options.argument({.name = "OUT", .value = "", .text = "The directory to write; new or empty"},
                   Presence::Required, request->out);
  options.integer({.name = "--seed",
                   .value = "N",
                   .text = "Seed of the weights (default: 0)",
                   .low = 0,
                   .high = 2147483647},
                  request->seed);
  return [request](const Session& session) { run(*request, session); };
}

}  // namespace

Command init_command() {
  return {.name = "init",
          .summary = "Make a model with random weights",
          .description =
              "Writes a model directory with the weights that training starts from: for measuring speed and "
              "memory of a size, or for trying a configuration. It has no tokenizer: for text, other "
              "commands take --tokenizer.",
          .examples = {"sluice init 51m-elementwise model --seed 1",
                       "sluice init 1b-elementwise big --dtype bf16"},
          .dtype = {.text = "Store matrices as f32 or bf16 (default: f32)", .words = {"f32", "bf16"}},
          .declare = declare_init};
}

}  // namespace sluice::cli
