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
// seed, and how it is broken afterwards.
std::string run_plan(const Experiment& experiment, const PlannedVariant& variant, int seed);

class Ledger {
 public:
  // In memory alone.
  Ledger() = default;

  // Bad input for lines that are no records, and for runs that the experiment plans differently or not at
  // all: what was trained must not be lost. A file that is not there yet knows nothing.
  Ledger(const std::filesystem::path& directory, const Experiment& experiment);

  int64_t size() const { return std::ssize(records_); }
  const RunRecord* find(const std::string& variant, int seed) const;

  // Bad input if its runs saw another one.
  void check_text(const std::string& text) const;

  // On the disk when it returns, if it has a file.
  void add(const RunRecord& record, const Experiment& experiment);

 private:
  std::filesystem::path file_ = {};
  std::vector<RunRecord> records_ = {};
};

}  // namespace sluice
