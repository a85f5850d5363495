// A run on disk: config.json (as understood), metrics.jsonl (and the same as CSV and TensorBoard events),
// checkpoints/step-N. One process at a time.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sluice/base/file_descriptor.h"
#include "sluice/train/checkpoint_state.h"
#include "sluice/train/metrics_csv.h"
#include "sluice/train/tensorboard.h"

namespace sluice {

enum class RunStart { New, Resume };

class RunDirectory {
 public:
  // A new run wants a directory that does not exist or is empty; resuming wants one with a run in it. A
  // second process in the same directory is refused.
  RunDirectory(std::filesystem::path path, RunStart start);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path checkpoint(int64_t step) const;

  // Newest first.
  std::vector<int64_t> checkpoint_steps() const;

  // A checkpoint that cannot be used makes room, but stays for a look: checkpoints/damaged-N.
  void set_aside(int64_t step) const;

  // Deletes all but the `keep` newest and `best`; what is half deleted after a crash is no checkpoint.
  void prune(int64_t keep, int64_t best) const;

  // Names of links to checkpoints: "latest", "best". Replaced at once.
  void point(const std::string& link, int64_t step) const;

  // One line of metrics.jsonl. After a crash the file may hold steps that will be taken again.
  void append_metrics(const std::string& line);

  // Leaves only lines of steps up to `step`: those after it are taken again.
  void cut_metrics(int64_t step);

 private:
  void open_metrics();

  std::filesystem::path path_;
  FileDescriptor lock_, metrics_;
  // metrics.jsonl in other forms: written after it, and anew from it when it is cut.
  MetricsCsv csv_{path_};
  TensorBoardEvents events_{path_};
};

}  // namespace sluice
