#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/analysis/pulse.h"
#include "sluice/base/atomic_file.h"
#include "sluice/base/error.h"
#include "sluice/base/file.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/progress.h"
#include "sluice/cli/training.h"
#include "sluice/data/tokenize.h"
#include "sluice/model/count.h"
#include "sluice/text/tokenizer.h"
#include "sluice/train/run.h"

namespace sluice::cli {
namespace {

using nlohmann::ordered_json;

constexpr const char* kConfig = "config.json";
constexpr const char* kTokenizer = "tokenizer.json";

struct Request {
  std::string config, out;
  std::vector<std::string> changes, data;
  std::string tokenizer;
  bool resume = false, dry_run = false, print_config = false;
};

RunConfig config_of(const Request& request, const Session& session) {
  std::vector<std::string> changes = request.changes;
  if (!session.options.dtype.empty()) changes.push_back("dtype=" + session.options.dtype);
  return load_run_config(request.config, changes);
}

std::vector<TokenShard> shards_of(const Request& request) {
  std::vector<TokenShard> shards;
  for (const std::string& path : request.data) shards.emplace_back(path);
  return shards;
}

void check(const Request& request) {
  const bool works = !request.dry_run && !request.print_config;
  if (works && request.out.empty()) throw usage_error({.where = "train", .what = "--out is required"});
  if (works && request.data.empty()) {
    throw usage_error({.where = "train",
                       .what = "--data is required",
                       .hint = "sluice data tokenize makes token shards from text"});
  }
}

void check_tokenizer(const std::string& path, const ModelConfig& model) {
  const int64_t size = Tokenizer::load(path).size();
  if (size <= model.vocabulary) return;
  throw bad_input({.where = path,
                   .what = "the tokenizer does not fit the model",
                   .expected = fmt::format("at most {} tokens", model.vocabulary),
                   .got = std::to_string(size)});
}

// A run goes on as it began: only how long it is and how often it is saved may change.
void check_same_run(const RunConfig& config, const std::filesystem::path& out) {
  const ordered_json now = run_config_json(config);
  const ordered_json before = run_config_json(load_run_config((out / kConfig).string(), {}));
  for (const auto& [key, value] : before.items()) {
    if (key == "steps" || key == "checkpoints" || now.at(key) == value) continue;
    throw usage_error({.where = "train --resume",
                       .what = fmt::format("{} is not what the run began with", key),
                       .expected = value.dump(),
                       .got = now.at(key).dump()});
  }
}

void print_plan(const RunConfig& config, const Session& session) {
  const ordered_json json = {{"parameters", count_parameters(config.model).total()},
                             {"tokens", config.steps() * config.batch_tokens},
                             {"steps", config.steps()},
                             {"flops", 3.0 * static_cast<double>(count_flops(config.model).products) *
                                           static_cast<double>(config.steps() * config.batch_tokens)}};
  session.out << json.dump(2) << '\n';
}

void run(const Request& request, const Session& session) {
  check(request);
  const RunConfig config = config_of(request, session);
  if (request.print_config) {
    session.out << run_config_json(config).dump(2) << '\n';
    return;
  }
  if (request.dry_run) return print_plan(config, session);
  const RunStart start = request.resume ? RunStart::Resume : RunStart::New;
  const std::vector<TokenShard> shards = shards_of(request);
  check_data(config, shards);
  if (!request.tokenizer.empty()) check_tokenizer(request.tokenizer, config.model);
  if (request.resume) check_same_run(config, request.out);
  Engine engine(session.options.engine());
  RunDirectory directory(request.out, start);
  if (start == RunStart::New) {
    if (!request.tokenizer.empty())
      write_file_atomically(directory.path() / kTokenizer, MappedFile(request.tokenizer).bytes());
    write_file_atomically(directory.path() / kConfig, run_config_json(config).dump(2) + "\n");
  }
  std::error_code none;
  const bool has_tokenizer = std::filesystem::exists(directory.path() / kTokenizer, none);
  Run training(engine, config, directory,
               {.shards = shards,
                .tokenizer = has_tokenizer ? directory.path() / kTokenizer : std::filesystem::path(),
                .start = start},
               session.log);
  const RunEnd end = train_with_progress(training, config, engine, session);
  const RunState& state = training.state();
  const bool validated = state.best_step >= 0;
  const ordered_json json = {{"out", request.out},
                             {"steps", state.step},
                             {"tokens", state.tokens},
                             {"tokens_per_s", static_cast<double>(state.tokens) / state.seconds},
                             {"best_validation_loss", validated ? ordered_json(state.best_loss) : nullptr},
                             {"best_step", validated ? ordered_json(state.best_step) : nullptr},
                             {"spikes", state.spikes}};
  if (session.options.json) {
    session.out << json.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
  } else {
    const std::string best =
        validated ? fmt::format("; validation loss {:.4f} at step {}", state.best_loss, state.best_step) : "";
    session.out << fmt::format("{} steps, {} tokens{}; {}/latest\n", state.step, state.tokens, best,
                               request.out);
  }
  if (end == RunEnd::Interrupted) {
    throw Error(ErrorKind::Interrupted, {.what = fmt::format("stopped and saved after step {}", state.step),
                                         .hint = "--resume goes on"});
  }
}

Action declare_train(Options& options) {
  auto request = std::make_shared<Request>();
  options.argument({.name = "CONFIG", .value = "", .text = "A run's configuration (configs/runs)"},
                   Presence::Required, request->config);
  options.list({.name = "--data", .value = "FILE...", .text = "Token shards, made by sluice data tokenize"},
               request->data);
  options.text({.name = "--tokenizer", .value = "FILE", .text = "tokenizer.json to put into checkpoints"},
               request->tokenizer);
  options.text({.name = "--out", .value = "DIR", .text = "The run's directory"}, request->out);
  options.repeated({.name = "--set", .value = "A.B=V", .text = "Change a value of the configuration"},
                   request->changes);
  options.flag("--resume", request->resume, "Go on where the run in --out stopped");
  options.flag("--dry-run", request->dry_run, "Only say how large the model and the run are");
  options.flag("--print-config", request->print_config,
               "Print the configuration with every default, and stop");
  return [request](const Session& session) { run(*request, session); };
}

}  // namespace

Command train_command() {
  return {
      .name = "train",
      .summary = "Train a model",
      .description =
          "Trains on token shards and writes a run directory: config.json, metrics.jsonl and checkpoints "
          "that are model directories. Ctrl-C finishes the step, saves and ends; --resume then goes on, "
          "bitwise as if it had never stopped. A damaged checkpoint is skipped for the one before it.",
      .examples = {"sluice train configs/runs/tiny-elementwise.json --data text.tokens --out run",
                   "sluice train configs/runs/tiny-elementwise.json --data text.tokens --out run --resume",
                   "sluice train configs/runs/51m-elementwise.json --set schedule.peak=6e-4 --print-config"},
      .dtype = {.text = "Products in bf16 or f32 (default: as the configuration says)",
                .words = {"f32", "bf16"}},
      .declare = declare_train};
}

}  // namespace sluice::cli
