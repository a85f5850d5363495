// The results of a sweep: a row per variant, with intervals over its seeds.
#pragma once

#include "sluice/ablate/grid.h"
#include "sluice/cli/training.h"

namespace sluice::cli {

struct SweepRun {
  int seed = 0;
  std::string directory;
  bool diverged = false;  // then there is no outcome
  TrainingOutcome outcome;
};

class SweepTable {
 public:
  explicit SweepTable(std::vector<GridPoint> points);

  void add(size_t point, const SweepRun& run);

  std::string text() const;
  std::string json_text() const;

  // result.json and table.csv.
  void write(const std::filesystem::path& directory) const;

 private:
  struct Row {
    GridPoint point;
    std::vector<SweepRun> runs;
  };

  nlohmann::ordered_json json() const;
  std::string csv() const;

  std::vector<Row> rows_;
};

}  // namespace sluice::cli
