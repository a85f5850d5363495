#include "sluice/dist/pieces.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "sluice/base/atomic_file.h"
#include "sluice/base/error.h"
#include "sluice/base/file.h"
#include "sluice/base/file_system.h"
#include "sluice/base/stopwatch.h"
#include "sluice/base/system.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPieceFolder = ".pieces";
constexpr auto kPoll = std::chrono::milliseconds(200);
constexpr double kTellWaiting = 30;  // seconds

// Tells now and then whom a process waits for.
class Patience {
 public:
  Patience(const PieceFolder& folder, const JobControl& control) : folder_(folder), control_(control) {}

  void wait_for(const Piece& piece) {
    if (watch_.seconds() > kTellWaiting) {
      control_.info("waiting for {}: {} has it", piece.name, folder_.owner_of(piece));
      watch_.lap();
    }
    std::this_thread::sleep_for(kPoll);
  }

  void has_worked() { watch_.lap(); }

 private:
  const PieceFolder& folder_;
  const JobControl& control_;
  Stopwatch watch_;
};

// Whatever is in a file; empty if there is none.
std::string text_in(const fs::path& file) {
  std::error_code none;
  if (!fs::exists(file, none) || fs::file_size(file, none) == 0) return {};
  return std::string(MappedFile(file).text());
}

std::string this_process() {
  return fmt::format("{}, process {}", host_name(), getpid());
}

// A file that appears with its content, and only once: what is in it, from whoever came first.
std::string first_word(const fs::path& folder, const std::string& name, const std::string& text) {
  std::error_code error;
  const fs::path own = folder / temporary_name();
  if (!fs::exists(folder / name, error)) {
    write_file_atomically(own, text + "\n");
    if (::link(own.c_str(), (folder / name).c_str()) != 0 && errno != EEXIST)
      throw system_failure(folder / name, "cannot create", last_system_error());
    fs::remove(own, error);
  }
  std::string there = text_in(folder / name);
  while (there.ends_with('\n')) there.pop_back();
  return there;
}

}  // namespace

PieceFolder::PieceFolder(fs::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw system_failure(folder_, "cannot create", error);
}

fs::path PieceFolder::file_of(const Piece& piece, const char* ending) const {
  std::string name = piece.name;
  std::ranges::replace(name, '/', '+');
  return folder_ / (name + ending);
}

fs::path PieceFolder::note_file(const Piece& piece) const {
  return file_of(piece, ".done");
}

std::optional<std::string> PieceFolder::note_of(const Piece& piece) const {
  const std::string text = text_in(note_file(piece));
  const std::string begin = piece.fingerprint + "\n";
  if (!text.starts_with(begin)) return {};
  return text.substr(begin.size());
}

bool PieceFolder::is_done(const Piece& piece) const {
  const fs::path path = note_file(piece);
  std::error_code none;
  if (!fs::exists(path, none) || fs::file_size(path, none) == 0) return false;
  // The note may be large, and many may ask.
  const MappedFile file(path);
  const std::string begin = piece.fingerprint + "\n";
  const std::span<const std::byte> bytes = file.bytes();
  return bytes.size() >= begin.size() && std::memcmp(bytes.data(), begin.data(), begin.size()) == 0;
}

std::optional<FileDescriptor> PieceFolder::claim(const Piece& piece) const {
  if (is_done(piece)) return {};
  std::optional<FileDescriptor> file = lock(piece);
  if (file && is_done(piece)) return {};  // done by whoever had the lock until now
  return file;
}

std::optional<FileDescriptor> PieceFolder::lock(const Piece& piece) const {
  const fs::path path = file_of(piece, ".lock");
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file.is_open()) throw system_failure(path, "cannot open", last_system_error());
  // Held by the open file: the system lets go of it when the process ends, however it ends.
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return {};
    throw system_failure(path, "cannot lock", last_system_error());
  }
  const std::string owner = this_process() + "\n";
  if (::ftruncate(file.get(), 0) != 0 || ::write(file.get(), owner.data(), owner.size()) < 0)
    throw system_failure(path, "cannot write", last_system_error());
  return file;
}

void PieceFolder::done(const Piece& piece, const std::string& note) const {
  write_file_atomically(note_file(piece), piece.fingerprint + "\n" + note);
}

void PieceFolder::join(const std::string& name, const JobIdentity& identity) const {
  using Unreadable = nlohmann::ordered_json::error_handler_t;
  const std::string own = to_json(identity).dump(-1, ' ', false, Unreadable::replace);
  const std::string was = first_word(folder_, name + ".json", own);
  if (was == own) return;
  check_same_job(Json::parse(was, (folder_ / (name + ".json")).string()), identity,
                 folder_.parent_path().string());
}

std::string PieceFolder::owner_of(const Piece& piece) const {
  std::string owner = text_in(file_of(piece, ".lock"));
  while (!owner.empty() && owner.back() == '\n') owner.pop_back();
  return owner.empty() ? "another process" : owner;
}

bool begins_or_joins(const fs::path& folder, const std::string& job) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw system_failure(folder, "cannot create", error);
  return first_word(folder, "job", job) == job;
}

bool has_pieces(const fs::path& out) {
  std::error_code unknown;
  return fs::exists(out / kPieceFolder, unknown);
}

void check_holds_nothing_else(const fs::path& out) {
  if (has_pieces(out)) return;
  try {
    check_can_fill(out);
  } catch (const Error&) {
    if (!has_pieces(out)) throw;  // else another process has just made them
  }
}

PieceFolder open_pieces(const fs::path& out, const std::string& job, const JobDirectory& directory) {
  const fs::path folder = out / kPieceFolder;
  if (!job.empty() || !directory.can_be_joined_anyhow) check_holds_nothing_else(out);
  if (!job.empty() && !begins_or_joins(folder, job))
    throw failure(
        {.where = out.string(), .what = "holds " + directory.kind + " already", .hint = directory.hint});
  PieceFolder pieces(folder);
  if (const std::string kind = first_word(folder, "kind", directory.kind); kind != directory.kind)
    throw failure({.where = out.string(),
                   .what = fmt::format("holds {:.40} already", kind),
                   .hint = "give a name that does not exist yet"});
  return pieces;
}

bool share_pieces(const PieceFolder& folder, const std::vector<Piece>& pieces,
                  const std::function<std::string(size_t)>& work, const JobControl& control) {
  std::vector<bool> done(pieces.size());
  Patience patience(folder, control);
  while (!control.is_cancelled()) {
    bool has_worked = false;
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (!done[i]) done[i] = folder.is_done(pieces[i]);
      if (done[i]) continue;
      const std::optional<FileDescriptor> lock = folder.claim(pieces[i]);
      if (!lock) continue;
      const std::string note = work(i);
      if (control.is_cancelled()) return false;
      folder.done(pieces[i], note);
      done[i] = has_worked = true;
    }
    const auto missing = std::ranges::find(done, false);
    if (missing == done.end()) return true;
    if (has_worked) {
      patience.has_worked();
    } else {
      patience.wait_for(pieces[static_cast<size_t>(missing - done.begin())]);
    }
  }
  return false;
}

SharedResult::SharedResult(const PieceFolder& folder, const std::string& job)
    : folder_(folder),
      piece_{.name = "result", .fingerprint = job},
      before_(job.empty() ? folder.note_of(piece_) : std::nullopt) {}

bool SharedResult::is_published() const {
  return folder_.note_of(piece_) != before_;
}

bool SharedResult::claim() {
  if (!is_published()) lock_ = folder_.lock(piece_);
  if (lock_ && is_published()) lock_.reset();  // by whoever had the lock until now
  return lock_.has_value();
}

bool SharedResult::outlives_collector(const JobControl& control) {
  for (Patience patience(folder_, control); !is_published(); patience.wait_for(piece_)) {
    control.stop_if_cancelled();
    if (claim()) return true;
  }
  return false;
}

void SharedResult::publish() {
  folder_.done(piece_, temporary_name());  // another one every time
}

}  // namespace sluice
