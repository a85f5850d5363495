// A run on disk: config.json (as understood), tokenizer.json, metrics.jsonl (and the same as CSV and
// TensorBoard events), checkpoints/step-N. One process at a time.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sluice/base/appended_file.h"
#include "sluice/base/file_descriptor.h"
#include "sluice/train/checkpoint_state.h"
#include "sluice/train/metrics_csv.h"
#include "sluice/train/tensorboard.h"

namespace sluice {

enum class RunStart { New, Resume };

class RunDirectory {
 public:
  struct Birth {
    std::string config;                    // JSON
    std::filesystem::path tokenizer = {};  // a file to copy; none: tokens are bytes
  };

  // Wants a directory that does not exist, is empty, or holds a run that was killed before it had its
  // config.json.
  static RunDirectory create(const std::filesystem::path& path, const Birth& birth);

  // Wants one with a run in it. What killed processes left half-written goes away.
  static RunDirectory open(const std::filesystem::path& path);

  // Whether a run can be opened there.
  static bool has_run(const std::filesystem::path& path);

  RunStart start() const { return start_; }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config() const;

  // The tokenizer's file, empty if the run has none.
  std::filesystem::path tokenizer() const;
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
  void append_metrics(const nlohmann::ordered_json& line);

  // Waits until the lines are on the disk.
  void sync_metrics();

  // The figures of the last validation as they stand in metrics.jsonl; null if there was none.
  nlohmann::ordered_json last_validation() const;

  // Leaves only lines of steps up to `step`: those after it are taken again.
  void cut_metrics(int64_t step);

 private:
  RunDirectory(std::filesystem::path path, RunStart start);

  void begin(const Birth& birth);
  void open_metrics();

  std::filesystem::path path_;
  RunStart start_;
  FileDescriptor lock_;
  std::optional<AppendedFile> metrics_;  // none before the run is born
  // metrics.jsonl in other forms: written after it, and anew from it when it is cut.
  MetricsCsv csv_{path_};
  TensorBoardEvents events_{path_};
};

}  // namespace sluice
