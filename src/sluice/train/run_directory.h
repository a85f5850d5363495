// A run on disk: config.json (as understood), tokenizer.json, held-out.json (data/held_out.h), metrics.jsonl
// (and the same as CSV and TensorBoard events), checkpoints/step-N. One process at a time.
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

// How a run starts.
enum class RunStart {
  New,
  Resume,      // the run in the directory, which must be there
  ResumeOrNew  // the run in the directory, or a new one if there is none
};

class RunDirectory {
 public:
  // What the directory of a new run is given.
  struct NewRun {
    std::string config;          // JSON
    std::string tokenizer = {};  // likewise; empty: what the tokens stand for is not known
    std::string held_out = {};   // likewise; empty: no text is kept for validation
  };

  // The directory must not exist, be empty, or hold a run that was killed before it had its config.json.
  static RunDirectory create(const std::filesystem::path& path, const NewRun& run);

  // The directory must hold a run. Removes what killed processes left half-written.
  static RunDirectory open(const std::filesystem::path& path);

  // Whether a run can be opened there.
  static bool has_run(const std::filesystem::path& path);

  // Where the run there saves a step, and whether it has.
  static std::filesystem::path checkpoint_of(const std::filesystem::path& path, int64_t step);
  static bool has_checkpoint(const std::filesystem::path& path, int64_t step);

  // What create() and open() refuse, without touching anything.
  static void check_is_free(const std::filesystem::path& path);
  static void check_has_run(const std::filesystem::path& path);

  // New if it was created, Resume if it was opened.
  RunStart start() const { return start_; }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config() const;

  // The tokenizer's file, empty if the run has none.
  std::filesystem::path tokenizer() const;
  std::filesystem::path checkpoint(int64_t step) const;

  // Newest first.
  std::vector<int64_t> checkpoint_steps() const;

  // Renames a checkpoint that cannot be used to checkpoints/damaged-N, where somebody can look at it.
  void set_aside(int64_t step) const;

  // Deletes all but the `keep` newest and `best`; what is half deleted after a crash is no checkpoint.
  void prune(int64_t keep, int64_t best) const;

  // Makes the link "latest" or "best" point to a checkpoint, in one atomic replacement.
  void point(const std::string& link, int64_t step) const;

  // One line of metrics.jsonl. After a crash the file may hold steps that will be taken again.
  void append_metrics(const nlohmann::ordered_json& line);

  // Waits until the lines are on the disk.
  void sync_metrics();

  // Read from metrics.jsonl; none if there was no validation.
  std::optional<Validation> last_validation() const;

  // Removes the lines of steps after `step`, which will be taken again.
  void cut_metrics(int64_t step);

 private:
  RunDirectory(std::filesystem::path path, RunStart start);

  void begin(const NewRun& run);
  void open_metrics();

  std::filesystem::path path_;
  RunStart start_;
  FileDescriptor lock_;
  std::optional<AppendedFile> metrics_;  // none before the run has begun
  // metrics.jsonl in other forms: appended to after it, and rewritten from it when it is cut.
  MetricsCsv csv_{path_};
  TensorBoardEvents events_{path_};
};

}  // namespace sluice
