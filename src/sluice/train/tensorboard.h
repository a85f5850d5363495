// metrics.jsonl as a TensorBoard event file: TFRecords of Event messages, one per line, a scalar per figure.
// Tags are train/loss, validation/loss and so on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "sluice/base/appended_file.h"
#include "sluice/train/metrics_line.h"

namespace sluice {

// There is one event file per run, and a run that is resumed keeps it: with two, TensorBoard would show the
// steps between checkpoint and crash twice.
//
// An event's time is the file's birth, which its name holds, plus the seconds trained: a rewritten file
// begins with the very bytes of the old one.
class TensorBoardEvents {
 public:
  explicit TensorBoardEvents(std::filesystem::path directory) : directory_(std::move(directory)) {}

  void append(const MetricsLine& line);

  // Puts these lines in the place of all that the file has.
  void rewrite(std::span<const MetricsLine> lines);

 private:
  void find_or_name_file();
  std::string record(const MetricsLine& line);

  std::filesystem::path directory_, path_;
  int64_t birth_ = 0;   // seconds since 1970
  double seconds_ = 0;  // trained, as of the last step
  std::optional<AppendedFile> file_;
};

}  // namespace sluice
