// metrics.jsonl as a TensorBoard event file: TFRecords of Event messages, one per line, a scalar per number.
// Tags are train/loss, validation/loss and so on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "sluice/base/appended_file.h"
#include "sluice/train/metrics.h"

namespace sluice {

// There is one event file per run, and a run that is resumed keeps it: with two, TensorBoard would show the
// steps between checkpoint and crash twice.
//
// An event's time is that of the file's creation, which its name holds, plus the seconds trained: a rewritten
// file begins with the same bytes as the old one.
class TensorBoardEvents {
 public:
  explicit TensorBoardEvents(std::filesystem::path directory) : directory_(std::move(directory)) {}

  void append(const MetricsLine& line);

  // Replaces the file by these lines.
  void rewrite(std::span<const MetricsLine> lines);

 private:
  void find_or_name_file();
  std::string record(const MetricsLine& line);

  std::filesystem::path directory_, path_;
  int64_t created_ = 0;  // seconds since 1970
  double seconds_ = 0;   // trained, as of the last step
  std::optional<AppendedFile> file_;
};

}  // namespace sluice
