#include "sluice/ablate/ablation_log.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sluice/base/atomic_file.h"
#include "sluice/base/crc32c.h"
#include "sluice/base/directory_lock.h"
#include "sluice/base/error.h"
#include "sluice/base/file.h"
#include "sluice/base/file_system.h"
#include "sluice/base/json.h"
#include "sluice/dist/pieces.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kLogName = "ablation.log";
constexpr size_t kChecksumLength = 8;
// Of what lines say and of what an ablation's identity is made of. 2: the plan says which heads follow. 3:
// the instruction set; a calibration text is cut as `eval` cuts it. 4: the plan has its matched noise, and
// what samples and estimates depend on has no part in it.
constexpr int64_t kLogVersion = 4;
constexpr size_t kMostLogBytes = size_t{4} << 30;

std::string line_of(const ordered_json& json) {
  const std::string text = json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  return fmt::format("{:08x} {}\n", crc32c(text), text);
}

// The JSON of a line; none if it is not what was written.
std::optional<std::string_view> checked(std::string_view line) {
  if (line.size() < kChecksumLength + 2 || line[kChecksumLength] != ' ') return {};
  const std::string_view text = line.substr(kChecksumLength + 1);
  if (fmt::format("{:08x}", crc32c(text)) != line.substr(0, kChecksumLength)) return {};
  return text;
}

ordered_json json_of(const JobIdentity& identity) {
  return {{"sluice_ablation", kLogVersion}, {"of", to_json(identity)}};
}

ordered_json json_of(const LogEntry& entry) {
  const RunMeasures& measures = entry.measures;
  return {{"model", entry.key.model}, {"text", entry.key.text},
          {"chunk", entry.key.chunk}, {"run", entry.key.run},
          {"nll", measures.nll.sum},  {"tokens", measures.nll.tokens},
          {"kl", measures.kl},        {"changed_top1", measures.changed_top1},
          {"sink", measures.sink},    {"largest_activation", measures.largest_activation}};
}

// JSON has no number that is not finite: null.
double number_in(const Json& json, std::string_view key) {
  return json.contains(key) ? json.number(key) : std::numeric_limits<double>::quiet_NaN();
}

LogEntry entry_of(const Json& json) {
  const IntegerRange count{.min = 0};
  return {.key = {.model = json.integer("model", count),
                  .text = json.integer("text", count),
                  .chunk = json.integer("chunk", count),
                  .run = json.integer("run", {.min = LogKey::kBase})},
          .measures = {.nll = {.sum = number_in(json, "nll"), .tokens = json.integer("tokens", {.min = 1})},
                       .kl = number_in(json, "kl"),
                       .changed_top1 = json.integer("changed_top1", count),
                       .sink = number_in(json, "sink"),
                       .largest_activation = number_in(json, "largest_activation")}};
}

void check_version(const Json& header, const std::string& where) {
  const int64_t version = header.contains("sluice_ablation") ? header.integer("sluice_ablation") : 0;
  if (version == kLogVersion) return;
  throw bad_input({.where = where,
                   .what = "is the log of another version of sluice",
                   .expected = fmt::format("version {}", kLogVersion),
                   .got = version == 0 ? std::string("none") : std::to_string(version),
                   .hint = "begin anew in another --out"});
}

// Of a process that was killed before it had written anything.
bool holds_no_chunk(const fs::path& directory) {
  std::error_code error;
  if (!fs::exists(directory / kLockName, error)) return false;
  for (const std::string& name : names_in(directory, error))
    if (name != kLockName && !is_temporary_name(name)) return false;
  return !error;
}

}  // namespace

RunMeasures as_logged(const RunMeasures& measures) {
  const auto one = [](double value) {
    return std::isfinite(value) ? value : std::numeric_limits<double>::quiet_NaN();
  };
  RunMeasures logged = measures;
  for (double* value : {&logged.nll.sum, &logged.kl, &logged.sink, &logged.largest_activation})
    *value = one(*value);
  return logged;
}

bool AblationLog::is_in(const fs::path& directory) {
  std::error_code unknown;
  return fs::exists(directory / kLogName, unknown);
}

void AblationLog::check_is_free(const fs::path& directory) {
  if (is_in(directory))
    throw failure({.where = directory.string(),
                   .what = "holds an ablation already",
                   .hint = "--resume goes on with it"});
  if (has_pieces(directory))
    throw failure({.where = directory.string(),
                   .what = "holds what processes have begun to share",
                   .hint = "if it is this ablation, --resume or --join goes on with it"});
  if (!holds_no_chunk(directory)) check_can_fill(directory);
}

AblationLog::AblationLog(fs::path directory, const JobIdentity& identity, LogStart start,
                         const JobControl& control)
    : path_(directory / kLogName) {
  if (start == LogStart::New) check_is_free(directory);
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) throw system_failure(directory, "cannot create", error);
  lock_ = lock_directory(directory, "another process writes an ablation in this directory");
  remove_temporaries(directory);
  if (start == LogStart::New) {
    check_is_free(directory);  // again, now that nobody else can begin
    begin(identity);
  } else if (!read(identity)) {
    control.info("{}: nothing to resume, so it begins anew", directory.string());
    begin(identity);
  } else {
    control.info("{}: goes on behind {} results that are there", directory.string(), entries_.size());
  }
}

void AblationLog::begin(const JobIdentity& identity) {
  write_file_atomically(path_, line_of(json_of(identity)));
  file_.emplace(path_);
}

bool AblationLog::read(const JobIdentity& identity) {
  std::error_code error;
  if (!fs::exists(path_, error)) return false;
  const std::string text = read_text(path_, kMostLogBytes);
  const std::string where = path_.string();
  size_t good = 0, number = 0;  // bytes, lines
  while (good < text.size()) {
    const size_t end = text.find('\n', good);
    const bool is_last = end == std::string::npos || end + 1 == text.size();
    const std::string_view line = std::string_view(text).substr(good, end - good);
    const auto content = end == std::string::npos ? std::nullopt : checked(line);
    if (!content && is_last) break;  // torn off
    const std::string place = fmt::format("{}: line {}", where, number + 1);
    if (!content)
      throw bad_input({.where = place,
                       .what = "is damaged",
                       .expected = "a record with its checksum",
                       .hint = "cut the file before this line, or begin in another --out"});
    const Json json = Json::parse(*content, place);
    if (number == 0) {
      check_version(json, where);
      check_same_job(json.at("of"), identity, where);
    } else {
      const LogEntry entry = entry_of(json);
      entries_.insert_or_assign(entry.key, entry.measures);
    }
    good = end + 1;
    ++number;
  }
  if (number == 0) return false;
  if (good < text.size()) write_file_atomically(path_, std::string_view(text).substr(0, good));
  file_.emplace(path_);
  return true;
}

std::optional<RunMeasures> AblationLog::find(const LogKey& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? std::nullopt : std::optional(found->second);
}

std::string text_of(std::span<const LogEntry> entries) {
  std::string lines;
  for (const LogEntry& entry : entries) lines += line_of(json_of(entry));
  return lines;
}

std::vector<LogEntry> entries_in(std::string_view text, const std::string& where) {
  std::vector<LogEntry> entries;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const auto content = checked(text.substr(0, end));
    if (!content)
      throw bad_input({.where = where, .what = "is damaged", .expected = "records with their checksums"});
    entries.push_back(entry_of(Json::parse(*content, where)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return entries;
}

void AblationLog::append(std::span<const LogEntry> entries) {
  for (const LogEntry& entry : entries) entries_.insert_or_assign(entry.key, as_logged(entry.measures));
  if (!file_) return;
  file_->append(text_of(entries));
  file_->sync();
}

}  // namespace sluice
