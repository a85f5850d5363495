#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "sluice/base/error.h"
#include "sluice/base/interrupt.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/model_input.h"
#include "sluice/cli/use_case.h"
#include "sluice/report/demo.h"
#include "sluice/serve/explorer.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

struct ExploreOptions {
  std::vector<std::string> models;
  std::string tokenizer, host = "127.0.0.1", token;
  int port = 8080;
  bool open = false, read_only = false;
  NonFiniteOption weights;
};

constexpr const char* kDemo = "sluice-demo";

// A demo's directory stands for the models in it.
std::vector<fs::path> models_of(const std::vector<std::string>& named) {
  std::vector<fs::path> models;
  for (const std::string& name : named) {
    std::error_code none;
    const bool is_model = fs::exists(fs::path(name) / "config.json", none);
    const std::vector<fs::path> inside = is_model ? std::vector<fs::path>() : demo_models(name);
    if (inside.empty()) models.emplace_back(name);
    models.insert(models.end(), inside.begin(), inside.end());
  }
  return models;
}

serve::ExplorerOptions explorer_options(const ExploreOptions& options, const Session& session) {
  serve::ExplorerOptions result{
      .models = options.models.empty() ? demo_models(kDemo) : models_of(options.models),
      .token = options.token,
      .read_only = options.read_only};
  if (result.models.empty())
    throw usage_error({.where = "explore",
                       .what = fmt::format("no model is given, and there are none of the demo in {}", kDemo),
                       .hint = "sluice demo makes them in a few minutes, or name a model directory"});
  for (const fs::path& path : result.models) {
    std::error_code none;
    if (!fs::exists(path, none)) throw bad_input({.where = path.string(), .what = "no such model"});
  }
  result.model = {.dtype = weight_type(session),
                  .tokenizer = options.tokenizer,
                  .nonfinite = options.weights.nonfinite()};
  result.server.host = options.host;
  result.server.port = static_cast<uint16_t>(options.port);
  return result;
}

// The desktop's program for addresses, with nothing of ours but the address.
void open_browser(const std::string& address, Log& log) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execlp("xdg-open", "xdg-open", address.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0)
    log.warn("no browser could be opened; the address is {}", address);
}

void run(const ExploreOptions& options, const Session& session) {
  const serve::ExplorerOptions request = explorer_options(options, session);
  Engine engine(session.options.engine());
  serve::Explorer explorer(engine, request);
  const std::string address = explorer.address();
  if (session.options.json) {
    print_json(session, {{"address", address}, {"port", explorer.port()}});
  } else {
    session.out << address << std::endl;
  }
  session.log.info("the explorer is there until Ctrl-C");
  if (options.open) open_browser(address, session.log);
  explorer.run(is_interrupted);
  session.log.info("the explorer has ended");
}

Action declare_explore(Options& options) {
  auto target = std::make_shared<ExploreOptions>();
  options.arguments(
      {.name = "MODEL",
       .value = "",
       .text = "Model directories, runs' or a demo's, which stands for all of its models (default: "
               "sluice-demo)"},
      Presence::Optional, target->models);
  options.integer({.name = "--port",
                   .value = "N",
                   .text = "Where to listen; 0 takes any that is free (default: 8080)",
                   .low = 0,
                   .high = 65535},
                  target->port);
  options.text(
      {.name = "--host",
       .value = "ADDRESS",
       .text = "Address to listen at; any but this machine's own needs a token (default: 127.0.0.1)"},
      target->host);
  options.text({.name = "--token",
                .value = "TEXT",
                .text = "What every request has to know (default: none on this machine, else one is made)"},
               target->token);
  options.flag("--read-only", target->read_only,
               "Models can be looked at, but not changed and not made to talk");
  options.flag("--open", target->open, "Open the page in a browser");
  options.text({.name = "--tokenizer",
                .value = "FILE|bytes",
                .text = "What the tokens of the models stand for (default: each model's own)"},
               target->tokenizer);
  target->weights.declare(options);
  return [target](const Session& session) { run(*target, session); };
}

}  // namespace

Command explore_command() {
  return {
      .name = "explore",
      .summary = "Open models in a browser: attention and gates of a prompt, live ablation, a guided story",
      .description =
          "Serves a page on this machine until Ctrl-C: type a prompt, see attention and gates of every "
          "head, shut a gate and watch what the model would say now; /story explains gated attention on "
          "the loaded models. Prints the address. Models are loaded when they are first looked at. The "
          "page's interface is open to other programs, and OpenAI clients can complete text: sluice help "
          "http. Nothing is loaded from the network, and nobody else can connect unless --host says so.",
      .examples = {"sluice explore", "sluice explore path/to/baseline path/to/gated --open",
                   "sluice explore path/to/model --port 0 --read-only",
                   "sluice explore path/to/model --host 0.0.0.0 --token secret"},
      .dtype = model_dtype(),
      .declare = declare_explore};
}

}  // namespace sluice::cli
