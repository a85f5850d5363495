#include "sluice/experiment/ledger.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "sluice/base/atomic_file.h"
#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"
#include "sluice/base/file.h"
#include "sluice/base/file_system.h"
#include "sluice/base/json_text.h"
#include "sluice/experiment/sweep.h"
#include "sluice/text/lines.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxBytes = size_t{64} << 20;  // a hundred thousand runs

void make_directory(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) throw system_failure(directory, "cannot create", error);
}

// Waits for whoever has it. The directory itself is locked, so that no file of ours lies beside the ledgers.
FileDescriptor lock_ledgers(const fs::path& directory) {
  FileDescriptor open(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!open.is_open()) throw system_failure(directory, "cannot open", last_system_error());
  while (::flock(open.get(), LOCK_EX) != 0)
    if (errno != EINTR) throw system_failure(directory, "cannot lock", last_system_error());
  return open;
}

bool is_there(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) return false;
  if (error) throw system_failure(file, "cannot look for it", error);
  return true;
}

}  // namespace

std::string run_plan(const Experiment& experiment, const PlannedVariant& variant, int seed) {
  std::string words = fmt::format("{}\n{}\n{}\n", experiment.run, experiment.text.stem(), seed);
  for (const std::string& change : changes_of_variant(experiment.changes, variant.point))
    words += change + "\n";
  if (experiment.course) words += "course\n";
  if (experiment.breaking) {
    words += fmt::format("{} {} {} {}\n", experiment.equal_loss, experiment.solved.value_or(0),
                         experiment.breaking->train_on, experiment.breaking->rate);
    for (const NamedChanges& each : experiment.breaking->interventions) {
      words += each.name + "\n";
      for (const std::string& change : each.changes) words += change + "\n";
    }
  }
  return fmt::format("{:08x}", crc32c(words));
}

Ledger::Ledger(const Experiment& experiment)
    : experiment_(experiment), planned_(planned_variants(experiment)) {}

Ledger::Ledger(const Experiment& experiment, const fs::path& directory) : Ledger(experiment) {
  directory_ = directory;
  file_ = directory / (experiment.name + ".jsonl");
  read();
}

void Ledger::read() {
  records_.clear();
  if (!is_there(file_)) return;
  const std::string text = read_text(file_, kMaxBytes);
  for_each_line(text, 1, [&](size_t number, std::string_view line) {
    const std::string where = fmt::format("{}: line {}", file_.string(), number);
    const Json json = Json::parse(line, where);
    // First: what a record of another plan holds is of no interest.
    check_is_planned(read_figures(json), json.text("plan"), where);
    RunRecord record = read_run_record(json, experiment_);
    if (knows(record)) throw bad_input({.where = where, .what = "the run is there twice"});
    records_.push_back(std::move(record));
  });
}

void Ledger::check_is_planned(const MeasuredTraining& run, const std::string& plan,
                              const std::string& where) const {
  const auto variant = std::ranges::find_if(
      planned_, [&](const PlannedVariant& each) { return each.point.name() == run.variant; });
  const int last_seed = experiment_.first_seed + experiment_.seeds - 1;
  if (variant == planned_.end() || run.seed < experiment_.first_seed || run.seed > last_seed)
    throw bad_input(
        {.where = where,
         .what = fmt::format("{}, seed {}, is no run of {}", run.variant, run.seed, experiment_.name),
         .hint = "an experiment keeps the variants and seeds that were trained"});
  if (const std::string expected = run_plan(experiment_, *variant, run.seed); plan != expected)
    throw bad_input({.where = where,
                     .what = fmt::format("{}, seed {}, was trained for another plan", run.variant, run.seed),
                     .expected = fmt::format("the plan {}", expected),
                     .got = plan,
                     .hint = "an experiment with other runs gets another name"});
}

const RunRecord* Ledger::find(const std::string& variant, int seed) const {
  const auto found = std::ranges::find_if(records_, [&](const RunRecord& record) {
    return record.figures.seed == seed && record.figures.variant == variant;
  });
  return found == records_.end() ? nullptr : &*found;
}

bool Ledger::knows(const RunRecord& record) const {
  return find(record.figures.variant, record.figures.seed) != nullptr;
}

void Ledger::check_text(const std::string& text) const {
  for (const RunRecord& record : records_)
    if (record.text != text)
      throw bad_input({.where = file_.string(),
                       .what = "its runs saw another text",
                       .expected = record.text,
                       .got = text,
                       .hint = "runs are compared on the same one"});
}

void Ledger::add(const RunRecord& record) {
  if (file_.empty()) {
    records_.push_back(record);
    return;
  }
  make_directory(directory_);
  const FileDescriptor lock = lock_ledgers(directory_);
  read();
  if (knows(record)) return;
  check_text(record.text);
  records_.push_back(record);
  std::string text;
  for (const RunRecord& each : records_) text += compact_text(to_json(each, experiment_)) + "\n";
  write_file_atomically(file_, text);
}

}  // namespace sluice
