#include "sluice/experiment/ledger.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

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

// Waits for whoever has it, who may have been stopped: it can be cancelled. The directory itself is locked,
// so that no file of ours lies beside the ledgers.
FileDescriptor lock_ledgers(const fs::path& directory, const JobControl& control) {
  FileDescriptor open(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!open.is_open()) throw system_failure(directory, "cannot open", last_system_error());
  for (bool is_first = true; ::flock(open.get(), LOCK_EX | LOCK_NB) != 0; is_first = false) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      throw system_failure(directory, "cannot lock", last_system_error());
    if (is_first) control.info("waiting for another process that writes to {}", directory.string());
    control.stop_if_cancelled();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
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

std::string rules_of_judgement(const Experiment& experiment) {
  std::string words = fmt::format("{} {}\n", experiment.equal_loss, experiment.solved.value_or(0));
  for (const ExperimentLook& look : experiment.looks)
    words += fmt::format("{} pairs, error {}\n", look.pairs, look.error);
  // What breaking does is looked at when all planned seeds have ended.
  if (experiment.breaking) words += fmt::format("{} seeds\n", experiment.seeds);
  if (experiment.breaking)
    for (const PlannedIntervention& each : experiment.breaking->interventions)
      words += fmt::format("{}: {} {}\n", each.name, each.is_control ? "control" : "judged",
                           each.against ? static_cast<int64_t>(*each.against) : int64_t{-1});
  return fmt::format("{:08x}", crc32c(words));
}

Ledger::Ledger(const Experiment& experiment, std::vector<PlannedVariant> planned, const fs::path& directory)
    : experiment_(experiment), planned_(std::move(planned)), directory_(directory) {
  if (directory.empty()) return;
  file_ = directory / (experiment.name + ".jsonl");
  read();
}

void Ledger::read() {
  records_.clear();
  text_.clear();
  if (!is_there(file_)) return;
  text_ = read_text(file_, kMaxBytes);
  take(text_, file_.string());
}

void Ledger::take(std::string_view text, const std::string& where) {
  for_each_line(text, 1, [&](size_t number, std::string_view line) {
    const std::string place = fmt::format("{}: line {}", where, number);
    RunRecord record = parsed_line(line, place);
    if (knows(record)) throw bad_input({.where = place, .what = "the run is there twice"});
    records_.push_back(std::move(record));
  });
}

RunRecord Ledger::parsed_line(std::string_view line, const std::string& where) const try {
  return parsed(line, where);
} catch (const Error& error) {
  ErrorReport report = error.report();
  if (report.hint.empty()) report.hint = "without the line its run is measured or trained again";
  throw bad_input(std::move(report));
}

RunRecord Ledger::parsed(std::string_view line, const std::string& where) const {
  const Json json = Json::parse(line, where);
  // First: what a record of another plan holds is of no interest.
  check_is_planned(read_figures(json), json.text("plan"), where);
  RunRecord record = read_run_record(json, experiment_);
  check_is_of_the_plan(record, json);
  check_is_like_the_others(record, json);
  return record;
}

// What is kept of all runs together. Instruction sets may sum up a floor in another order.
void Ledger::check_is_like_the_others(const RunRecord& record, const Json& json) const {
  constexpr double kRounding = 1e-9;
  const auto other =
      std::ranges::find_if(records_, [](const RunRecord& each) { return !each.figures.diverged; });
  if (record.figures.diverged || other == records_.end()) return;
  if (record.tokens != other->tokens)
    throw json.at("tokens").unexpected(
        fmt::format("{}, as of {}, seed {}", other->tokens, other->figures.variant, other->figures.seed));
  if (std::abs(record.sink_floor - other->sink_floor) > kRounding)
    throw json.at("sink_floor")
        .unexpected(fmt::format("{}, as of {}, seed {}", other->sink_floor, other->figures.variant,
                                other->figures.seed));
}

// What the plan's checksum stands for is in the record, too.
void Ledger::check_is_of_the_plan(const RunRecord& record, const Json& json) const {
  if (!experiment_.text.makes(record.text))
    throw json.at("text").unexpected(fmt::format("tokens of {}", experiment_.text.stem()));
  const int64_t steps = planned_.front().steps;
  if (record.figures.diverged ? record.steps > steps : record.steps != steps)
    throw json.at("steps").unexpected(fmt::format("{}, as is planned", steps));
  if (!record.broken) return;
  const PlannedVariant& variant = *find_variant(planned_, record.figures.variant);
  for (size_t i = 0; i < record.broken->effects.size(); ++i)
    if (variant.can_be_given[i] && std::isnan(record.broken->effects[i].loss))
      throw json.at("broken").at("effects").unexpected(
          "an effect of every intervention that the model takes");
}

void Ledger::check_is_planned(const MeasuredTraining& run, const std::string& plan,
                              const std::string& where) const {
  const PlannedVariant* variant = find_variant(planned_, run.variant);
  const int last_seed = experiment_.first_seed + experiment_.seeds - 1;
  if (variant == nullptr || run.seed < experiment_.first_seed || run.seed > last_seed)
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

void Ledger::add(const RunRecord& record, const JobControl& control) {
  const std::string line = compact_text(to_json(record, experiment_)) + "\n";
  const std::string where = fmt::format("{}, seed {}", record.figures.variant, record.figures.seed);
  if (file_.empty()) {
    parsed(line, where);
    records_.push_back(record);
    return;
  }
  make_directory(directory_);
  const FileDescriptor lock = lock_ledgers(directory_, control);
  read();
  if (knows(record)) return;
  check_text(record.text);
  parsed(line, where);  // beside what others have added by now
  const bool ends_within_a_line = !text_.empty() && text_.back() != '\n';
  const std::string longer = text_ + (ends_within_a_line ? "\n" : "") + line;
  if (longer.size() > kMaxBytes)
    throw failure({.where = file_.string(),
                   .what = "would be too long to be read again",
                   .expected = fmt::format("at most {} bytes", kMaxBytes),
                   .got = std::to_string(longer.size())});
  write_file_atomically(file_, longer);
  text_ = longer;
  records_.push_back(record);
}

}  // namespace sluice
