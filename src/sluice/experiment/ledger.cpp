#include "sluice/experiment/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/base/appended_file.h"
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

constexpr size_t kMaxBytes = size_t{1} << 30;

void check_is_planned(const RunRecord& record, const Experiment& experiment,
                      const std::vector<PlannedVariant>& planned, const std::string& where) {
  const MeasuredTraining& run = record.figures;
  const auto variant = std::ranges::find_if(
      planned, [&](const PlannedVariant& each) { return each.point.name() == run.variant; });
  const int last_seed = experiment.first_seed + experiment.seeds - 1;
  if (variant == planned.end() || run.seed < experiment.first_seed || run.seed > last_seed)
    throw bad_input(
        {.where = where,
         .what = fmt::format("{}, seed {}, is no run of {}", run.variant, run.seed, experiment.name),
         .hint = "an experiment keeps the variants and seeds that were trained"});
  if (record.plan != run_plan(experiment, *variant, run.seed))
    throw bad_input({.where = where,
                     .what = fmt::format("{}, seed {}, was trained for another plan", run.variant, run.seed),
                     .expected = fmt::format("the plan {}", run_plan(experiment, *variant, run.seed)),
                     .got = record.plan,
                     .hint = "what is known of a run does not hold for another; an experiment with other "
                             "runs gets another name"});
}

}  // namespace

std::string run_plan(const Experiment& experiment, const PlannedVariant& variant, int seed) {
  std::string words = fmt::format("{}\n{}\n{}\n", experiment.run, experiment.text.stem(), seed);
  for (const std::string& change : changes_of_variant(experiment.changes, variant.point))
    words += change + "\n";
  if (experiment.course) words += "course\n";
  if (experiment.breaking) {
    words += fmt::format("{} {} {}\n", experiment.equal_loss, experiment.breaking->train_on,
                         experiment.breaking->rate);
    for (const NamedChanges& each : experiment.breaking->interventions) {
      words += each.name + "\n";
      for (const std::string& change : each.changes) words += change + "\n";
    }
  }
  return fmt::format("{:08x}", crc32c(words));
}

Ledger::Ledger(const fs::path& directory, const Experiment& experiment)
    : file_(directory / (experiment.name + ".jsonl")) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) throw system_failure(directory, "cannot create", error);
  if (!fs::exists(file_)) return;
  const std::vector<PlannedVariant> planned = planned_variants(experiment);
  const std::string text = read_text(file_, kMaxBytes);
  for_each_line(text, 1, [&](size_t number, std::string_view line) {
    const std::string where = fmt::format("{}: line {}", file_.string(), number);
    RunRecord record = read_run_record(Json::parse(line, where), experiment);
    check_is_planned(record, experiment, planned, where);
    if (find(record.figures.variant, record.figures.seed) != nullptr)
      throw bad_input({.where = where, .what = "the run is there twice"});
    records_.push_back(std::move(record));
  });
}

const RunRecord* Ledger::find(const std::string& variant, int seed) const {
  const auto found = std::ranges::find_if(records_, [&](const RunRecord& record) {
    return record.figures.seed == seed && record.figures.variant == variant;
  });
  return found == records_.end() ? nullptr : &*found;
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

void Ledger::add(const RunRecord& record, const Experiment& experiment) {
  if (!file_.empty()) {
    AppendedFile file(file_);
    file.append(compact_text(to_json(record, experiment)) + "\n");
    file.sync();
  }
  records_.push_back(record);
}

}  // namespace sluice
