#include "sluice/train/run_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "sluice/base/atomic_file.h"
#include "sluice/base/directory_lock.h"
#include "sluice/base/error.h"
#include "sluice/base/file.h"
#include "sluice/base/file_system.h"
#include "sluice/base/json.h"
#include "sluice/data/held_out.h"
#include "sluice/text/lines.h"
#include "sluice/train/metrics.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStep = "step-";
constexpr const char* kConfig = "config.json";
constexpr const char* kTokenizer = "tokenizer.json";
constexpr const char* kCheckpoints = "checkpoints";

std::optional<int64_t> step_named(const std::string& name) {
  if (!name.starts_with(kStep)) return {};
  int64_t step = 0;
  const char* end = name.data() + name.size();
  const auto [stop, problem] = std::from_chars(name.data() + kStep.size(), end, step);
  if (problem != std::errc() || stop != end || step < 0) return {};
  return step;
}

fs::path checkpoint_in(const fs::path& run, int64_t step) {
  return run / kCheckpoints / fmt::format("{}{:06}", kStep, step);
}

// A run that was killed between its lock and its config.json has taken no step: its directory counts as
// empty.
bool holds_only_a_lost_beginning(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path / kLockName, error)) return false;
  const std::vector<std::string> names = names_in(path, error);
  return !error && std::ranges::all_of(names, [](const std::string& name) {
    return name == kLockName || name == kTokenizer || name == held_out_file("") || is_temporary_name(name);
  });
}

Json parse_line(std::string_view line, size_t number) {
  return Json::parse(line, fmt::format("{}: line {}", kMetricsName, number));
}

}  // namespace

bool RunDirectory::has_run(const fs::path& path) {
  std::error_code error;
  return fs::exists(path / kConfig, error);
}

fs::path RunDirectory::checkpoint_of(const fs::path& path, int64_t step) {
  return checkpoint_in(path, step);
}

bool RunDirectory::has_checkpoint(const fs::path& path, int64_t step) {
  std::error_code error;
  return fs::exists(checkpoint_in(path, step), error);
}

void RunDirectory::check_is_free(const fs::path& path) {
  if (holds_only_a_lost_beginning(path)) return;
  if (!has_run(path)) return check_can_fill(path);
  throw failure(
      {.where = path.string(), .what = "holds a run or a model already", .hint = "--resume continues a run"});
}

void RunDirectory::check_has_run(const fs::path& path) {
  if (has_run(path)) return;
  throw bad_input({.where = path.string(), .what = "no run to resume", .hint = "it has no config.json"});
}

RunDirectory::RunDirectory(fs::path path, RunStart start) : path_(std::move(path)), start_(start) {
  lock_ = lock_directory(path_, "another process trains in this directory");
}

RunDirectory RunDirectory::create(const fs::path& path, const NewRun& run) {
  check_is_free(path);
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw system_failure(path, "cannot create", error);
  RunDirectory created(path, RunStart::New);
  check_is_free(path);  // again, now that nobody else can begin
  created.begin(run);
  return created;
}

RunDirectory RunDirectory::open(const fs::path& path) {
  check_has_run(path);
  RunDirectory found(path, RunStart::Resume);
  std::error_code error;
  fs::create_directories(path / kCheckpoints, error);
  if (error) throw system_failure(path, "cannot create", error);
  remove_temporaries(path);
  remove_temporaries(path / kCheckpoints);
  found.open_metrics();
  return found;
}

void RunDirectory::begin(const NewRun& run) {
  remove_temporaries(path_);
  std::error_code error;
  fs::remove(path_ / kTokenizer, error);
  fs::remove(held_out_file(path_), error);
  if (!run.tokenizer.empty()) write_file_atomically(path_ / kTokenizer, run.tokenizer);
  if (!run.held_out.empty()) write_file_atomically(held_out_file(path_), run.held_out);
  // Last, since with it the directory holds a run.
  write_file_atomically(path_ / kConfig, run.config);
  fs::create_directories(path_ / kCheckpoints, error);
  if (error) throw system_failure(path_, "cannot create", error);
  open_metrics();
}

fs::path RunDirectory::config() const {
  return path_ / kConfig;
}

fs::path RunDirectory::tokenizer() const {
  std::error_code error;
  const fs::path path = path_ / kTokenizer;
  return fs::exists(path, error) ? path : fs::path();
}

void RunDirectory::open_metrics() {
  metrics_.emplace(path_ / kMetricsName);
}

fs::path RunDirectory::checkpoint(int64_t step) const {
  return checkpoint_in(path_, step);
}

std::vector<int64_t> RunDirectory::checkpoint_steps() const {
  std::vector<int64_t> steps;
  std::error_code error;
  for (const std::string& name : names_in(path_ / kCheckpoints, error))
    if (const auto step = step_named(name)) steps.push_back(*step);
  if (error) throw system_failure(path_ / kCheckpoints, "cannot read", error);
  std::ranges::sort(steps, std::greater());
  return steps;
}

void RunDirectory::set_aside(int64_t step) const {
  const fs::path aside = path_ / kCheckpoints / fmt::format("damaged-{:06}", step);
  std::error_code error;
  fs::remove_all(aside, error);
  fs::rename(checkpoint(step), aside, error);
  if (error) throw system_failure(checkpoint(step), "cannot rename", error);
}

void RunDirectory::prune(int64_t keep, int64_t best) const {
  const std::vector<int64_t> steps = checkpoint_steps();
  for (size_t i = static_cast<size_t>(keep); i < steps.size(); ++i) {
    if (steps[i] == best) continue;
    // Renamed first: from then on it is no checkpoint, whatever happens to its files.
    const fs::path doomed = path_ / kCheckpoints / fmt::format(".sluice-{}.tmp", steps[i]);
    std::error_code error;
    fs::rename(checkpoint(steps[i]), doomed, error);
    fs::remove_all(doomed, error);
  }
}

void RunDirectory::point(const std::string& link, int64_t step) const {
  const fs::path temporary = path_ / fmt::format(".sluice-{}.tmp", link);
  std::error_code error;
  fs::remove(temporary, error);
  fs::create_directory_symlink(fs::path(kCheckpoints) / checkpoint(step).filename(), temporary, error);
  if (!error) fs::rename(temporary, path_ / link, error);
  if (error) throw system_failure(path_ / link, "cannot link", error);
}

void RunDirectory::append_metrics(const nlohmann::ordered_json& line) {
  metrics_->append(line.dump() + "\n");
  const MetricsLine numbers = metrics_line(line);
  csv_.append(numbers);
  events_.append(numbers);
}

void RunDirectory::sync_metrics() {
  metrics_->sync();
}

std::optional<Validation> RunDirectory::last_validation() const {
  std::optional<Validation> last;
  for_each_line(read_metrics_text(path_), 1, [&](size_t number, std::string_view line) {
    const Json json = parse_line(line, number);
    if (json.contains("validation_loss")) last = read_validation(json);
  });
  return last;
}

void RunDirectory::cut_metrics(int64_t step) {
  const std::string old = read_metrics_text(path_);
  std::string kept;
  for_each_line(old, 1, [&](size_t number, std::string_view line) {
    if (parse_line(line, number).integer("step") <= step) kept.append(line).append("\n");
  });
  write_file_atomically(path_ / kMetricsName, kept);
  open_metrics();  // the old file has lost its name
  const std::vector<MetricsLine> lines = read_metrics_lines(kept);
  csv_.rewrite(lines);
  events_.rewrite(lines);
}

}  // namespace sluice
