// What was measured of an experiment's runs, in a file that outlives their weights: NAME.jsonl, a line per
// run. No run that is in it is trained again, so pages are written, and seeds added, on machines that never
// had the others.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/experiment/run_record.h"

namespace sluice {

// Different for runs that an experiment's file describes differently: what is trained, on what, with which
// seed, and how it is broken afterwards. Presets are named in such files, so a preset that was changed is not
// noticed.
std::string run_plan(const Experiment& experiment, const PlannedVariant& variant, int seed);

// Different for other looks and margins, another share that has to be solved, or other controls: what an
// experiment's file says of how its runs are judged.
std::string rules_of_judgement(const Experiment& experiment);

class Ledger {
 public:
  // Of the experiment, which must outlive it, and what planned_variants() makes of it. No directory: in
  // memory alone. Bad input for lines that are no records, and for runs that the experiment plans differently
  // or not at all: what was trained must not be lost. A file that is not there yet knows nothing.
  Ledger(const Experiment& experiment, std::vector<PlannedVariant> planned,
         const std::filesystem::path& directory = {});

  // What such a file holds, in memory alone: added to what is known. `where` names it in refusals.
  void take(std::string_view text, const std::string& where);

  const RunRecord* find(const std::string& variant, int seed) const;

  // Bad input if its runs saw another one.
  void check_text(const std::string& text) const;

  // On the disk when it returns, if there is a file; the lines that are there stay as they are, with figures
  // that only another version knows. Other processes may add to it meanwhile, and are waited for; of a run
  // that two of them have measured, the first record stays. Bad input for a record whose text is another one,
  // and for one that would not be read again: nothing is written then.
  void add(const RunRecord& record, const JobControl& control = {});

 private:
  void read();
  RunRecord parsed_line(std::string_view line, const std::string& where) const;
  RunRecord parsed(std::string_view line, const std::string& where) const;
  void check_is_of_the_plan(const RunRecord& record, const Json& json) const;
  void check_is_like_the_others(const RunRecord& record, const Json& json) const;
  bool knows(const RunRecord& record) const;
  void check_is_planned(const MeasuredTraining& run, const std::string& plan, const std::string& where) const;

  const Experiment& experiment_;
  std::vector<PlannedVariant> planned_;
  std::filesystem::path directory_ = {}, file_ = {};  // empty: none
  std::string text_ = {};                             // of the file, as it was read last
  std::vector<RunRecord> records_ = {};
};

}  // namespace sluice
