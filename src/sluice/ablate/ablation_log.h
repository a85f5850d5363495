// The file that an ablation writes as it goes: DIR/ablation.log, a line per run and chunk, each behind its
// own checksum, on the disk before the next chunk begins. The first line says what it is an ablation of. So
// whoever is killed loses no chunk that was finished, and whoever resumes goes on with the same ablation or
// is refused.
#pragma once

#include <compare>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sluice/ablate/run_measures.h"
#include "sluice/base/appended_file.h"
#include "sluice/base/file_descriptor.h"
#include "sluice/base/job_control.h"
#include "sluice/dist/job_identity.h"

namespace sluice {

struct LogKey {
  int64_t model = 0, text = 0, chunk = 0;
  int64_t run = kBase;  // of the model's plan

  static constexpr int64_t kBase = -1;  // the unbroken model
  auto operator<=>(const LogKey&) const = default;
};

struct LogEntry {
  LogKey key;
  RunMeasures measures;
};

enum class LogStart { New, Resume };

class AblationLog {
 public:
  // New: the directory must not exist or be empty, but for what a process left that was killed before its
  // first chunk. Resume: what is there is read; if there is nothing it is begun, and a remark says so. A last
  // line that was torn off is dropped; bad input for one that is damaged before others, and, with the part
  // that differs, if it is of another ablation.
  AblationLog(std::filesystem::path directory, const JobIdentity& identity, LogStart start,
              const JobControl& control = {});

  // Kept in memory alone, where others keep the files (shared_chunks.h).
  AblationLog() = default;

  static bool is_in(const std::filesystem::path& directory);

  // What the constructor refuses about a directory that has to be new, without touching anything.
  static void check_is_free(const std::filesystem::path& directory);

  // None if that was not finished.
  std::optional<RunMeasures> find(const LogKey& key) const;
  size_t size() const { return entries_.size(); }

  // On the disk when it returns, if it has a file.
  void append(std::span<const LogEntry> entries);

 private:
  void begin(const JobIdentity& identity);
  bool read(const JobIdentity& identity);  // false if there is nothing

  std::filesystem::path path_;
  FileDescriptor lock_;
  std::optional<AppendedFile> file_;  // none until it was begun or read, or if it has none
  std::map<LogKey, RunMeasures> entries_;
};

// Entries as lines, each behind its checksum, and back; bad input, with `where`, for others.
std::string text_of(std::span<const LogEntry> entries);
std::vector<LogEntry> entries_in(std::string_view text, const std::string& where);

// One number for those of a text that are not finite, as the file has them.
RunMeasures as_logged(const RunMeasures& measures);

}  // namespace sluice
