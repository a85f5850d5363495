// What was measured of an experiment's runs, in a file that outlives their weights: NAME.jsonl, a line per
// run. No run that is in it is trained again, so pages are written, and seeds added, on machines that never
// had the others.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sluice/experiment/run_record.h"

namespace sluice {

// Different for runs that an experiment's file describes differently: what is trained, on what, with which
// seed, and how it is broken afterwards. Presets are named in such files, so a preset that was changed is not
// noticed.
std::string run_plan(const Experiment& experiment, const PlannedVariant& variant, int seed);

class Ledger {
 public:
  // In memory alone.
  explicit Ledger(const Experiment& experiment);

  // Bad input for lines that are no records, and for runs that the experiment plans differently or not at
  // all: what was trained must not be lost. A file that is not there yet knows nothing.
  Ledger(const Experiment& experiment, const std::filesystem::path& directory);

  const RunRecord* find(const std::string& variant, int seed) const;

  // Bad input if its runs saw another one.
  void check_text(const std::string& text) const;

  // On the disk when it returns, if there is a file. Other processes may add to it meanwhile; of a run that
  // two of them have measured, the first record stays. Bad input for a record whose text is another one.
  void add(const RunRecord& record);

 private:
  void read();
  bool knows(const RunRecord& record) const;
  void check_is_planned(const MeasuredTraining& run, const std::string& plan, const std::string& where) const;

  const Experiment& experiment_;
  std::vector<PlannedVariant> planned_;
  std::filesystem::path directory_ = {}, file_ = {};  // empty: none
  std::vector<RunRecord> records_ = {};
};

}  // namespace sluice
