#include "sluice/train/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>

#include "sluice/base/atomic_file.h"
#include "sluice/base/error.h"
#include "sluice/base/file.h"
#include "sluice/base/json.h"
#include "sluice/text/lines.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStep = "step-";
constexpr const char* kMetrics = "metrics.jsonl";

Error system_failure(const fs::path& path, std::string_view action) {
  const std::string reason = std::generic_category().message(errno);
  return failure({.where = path.string(), .what = fmt::format("{}: {}", action, reason)});
}

std::optional<int64_t> step_named(const std::string& name) {
  if (!name.starts_with(kStep)) return {};
  int64_t step = 0;
  const char* end = name.data() + name.size();
  const auto [stop, problem] = std::from_chars(name.data() + kStep.size(), end, step);
  if (problem != std::errc() || stop != end || step < 0) return {};
  return step;
}

FileDescriptor locked(const fs::path& path) {
  FileDescriptor file(::open((path / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file.is_open()) throw system_failure(path, "cannot lock");
  // Held by the open file: the system lets go of it when the process ends, however it ends.
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) throw system_failure(path, "cannot lock");
    throw failure({.where = path.string(),
                   .what = "another process trains in this directory",
                   .hint = "wait for it, or choose another --out"});
  }
  return file;
}

}  // namespace

RunDirectory::RunDirectory(fs::path path, RunStart start) : path_(std::move(path)) {
  std::error_code error;
  const bool has_run = fs::exists(path_ / "config.json", error);
  if (start == RunStart::Resume && !has_run) {
    throw bad_input({.where = path_.string(), .what = "no run to resume", .hint = "it has no config.json"});
  }
  if (start == RunStart::New && fs::exists(path_, error) && !fs::is_empty(path_, error)) {
    throw failure(
        {.where = path_.string(),
         .what = "is not empty",
         .hint = has_run ? "--resume continues the run in it" : "give a name that does not exist yet"});
  }
  fs::create_directories(path_ / "checkpoints", error);
  if (error) throw failure({.where = path_.string(), .what = "cannot create: " + error.message()});
  lock_ = locked(path_);
  open_metrics();
}

void RunDirectory::open_metrics() {
  metrics_ =
      FileDescriptor(::open((path_ / kMetrics).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!metrics_.is_open()) throw system_failure(path_ / kMetrics, "cannot open");
}

fs::path RunDirectory::checkpoint(int64_t step) const {
  return path_ / "checkpoints" / fmt::format("{}{:06}", kStep, step);
}

std::vector<int64_t> RunDirectory::checkpoint_steps() const {
  std::vector<int64_t> steps;
  for (const auto& entry : fs::directory_iterator(path_ / "checkpoints")) {
    if (const auto step = step_named(entry.path().filename().string())) steps.push_back(*step);
  }
  std::ranges::sort(steps, std::greater());
  return steps;
}

void RunDirectory::set_aside(int64_t step) const {
  const fs::path aside = path_ / "checkpoints" / fmt::format("damaged-{:06}", step);
  std::error_code error;
  fs::remove_all(aside, error);
  fs::rename(checkpoint(step), aside, error);
  if (error) throw failure({.where = checkpoint(step).string(), .what = "cannot rename: " + error.message()});
}

void RunDirectory::prune(int64_t keep, int64_t best) const {
  const std::vector<int64_t> steps = checkpoint_steps();
  for (size_t i = static_cast<size_t>(keep); i < steps.size(); ++i) {
    if (steps[i] == best) continue;
    // Renamed first: from then on it is no checkpoint, whatever happens to its files.
    const fs::path doomed = path_ / "checkpoints" / fmt::format(".sluice-{}.tmp", steps[i]);
    std::error_code error;
    fs::rename(checkpoint(steps[i]), doomed, error);
    fs::remove_all(doomed, error);
  }
}

void RunDirectory::point(const std::string& link, int64_t step) const {
  const fs::path temporary = path_ / fmt::format(".sluice-{}.tmp", link);
  std::error_code error;
  fs::remove(temporary, error);
  fs::create_directory_symlink(fs::path("checkpoints") / checkpoint(step).filename(), temporary, error);
  if (!error) fs::rename(temporary, path_ / link, error);
  if (error) throw failure({.where = (path_ / link).string(), .what = "cannot link: " + error.message()});
}

void RunDirectory::append_metrics(const std::string& line) {
  const std::string whole = line + "\n";
  // One call: a line is there as a whole or not at all, but for a full disk.
  if (::write(metrics_.get(), whole.data(), whole.size()) != static_cast<ssize_t>(whole.size()))
    throw system_failure(path_ / kMetrics, "cannot write");
  const MetricsLine figures = read_metrics_line(line);
  csv_.append(figures);
  events_.append(figures);
}

void RunDirectory::cut_metrics(int64_t step) {
  constexpr size_t kMax = size_t{1} << 32;
  const std::string old = read_text(path_ / kMetrics, kMax);
  std::string kept;
  for_each_line(old, 1, [&](size_t number, std::string_view line) {
    if (!line.ends_with('}')) return;  // cut off by a crash
    const Json json = Json::parse(line, fmt::format("{}: line {}", kMetrics, number));
    if (json.integer("step") <= step) kept.append(line).append("\n");
  });
  write_file_atomically(path_ / kMetrics, kept);
  open_metrics();  // the old file has lost its name
  const std::vector<MetricsLine> lines = read_metrics_lines(kept);
  csv_.rewrite(lines);
  events_.rewrite(lines);
}

}  // namespace sluice
