#include "sluice/dist/pieces.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <thread>

#include "sluice/base/atomic_file.h"
#include "sluice/base/error.h"
#include "sluice/base/file.h"
#include "sluice/base/file_system.h"
#include "sluice/base/stopwatch.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPieceFolder = ".pieces";
constexpr auto kPoll = std::chrono::milliseconds(200);
constexpr double kTellWaiting = 30;  // seconds

std::string this_process() {
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, HOST_NAME_MAX);
  return fmt::format("{}, process {}", host, getpid());
}

// A failure if there is something in the directory that no such job has left.
void check_holds_nothing_else(const fs::path& out, const fs::path& folder) {
  std::error_code unknown;
  if (fs::exists(folder, unknown)) return;
  try {
    check_can_fill(out);
  } catch (const Error&) {
    if (!fs::exists(folder, unknown)) throw;  // else another process has just made it
  }
}

// Whatever is in a small file; empty if there is none.
std::string text_in(const fs::path& file) {
  std::error_code none;
  if (!fs::exists(file, none) || fs::file_size(file, none) == 0) return {};
  return std::string(MappedFile(file).text());
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

std::optional<std::string> PieceFolder::note_of(const Piece& piece) const {
  const std::string text = text_in(file_of(piece, ".done"));
  const std::string begin = piece.fingerprint + "\n";
  if (!text.starts_with(begin)) return {};
  return text.substr(begin.size());
}

std::optional<FileDescriptor> PieceFolder::claim(const Piece& piece) const {
  if (note_of(piece)) return {};
  const fs::path path = file_of(piece, ".lock");
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file.is_open()) throw system_failure(path, "cannot open", last_system_error());
  // Held by the open file: the system lets go of it when the process ends, however it ends.
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return {};
    throw system_failure(path, "cannot lock", last_system_error());
  }
  if (note_of(piece)) return {};  // done by whoever had the lock until now
  const std::string owner = this_process() + "\n";
  if (::ftruncate(file.get(), 0) != 0 || ::write(file.get(), owner.data(), owner.size()) < 0)
    throw system_failure(path, "cannot write", last_system_error());
  return file;
}

void PieceFolder::done(const Piece& piece, const std::string& note) const {
  write_file_atomically(file_of(piece, ".done"), piece.fingerprint + "\n" + note);
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
  const fs::path name = folder / "job";
  const fs::path own = folder / fmt::format(".sluice-{}.tmp", getpid());
  write_file_atomically(own, job + "\n");
  // A link appears with its content, and only once.
  const bool first = ::link(own.c_str(), name.c_str()) == 0;
  fs::remove(own, error);
  return first || text_in(name) == job + "\n";
}

PieceFolder open_pieces(const fs::path& out, const std::string& job, const std::string& holds) {
  const fs::path folder = out / kPieceFolder;
  if (!job.empty()) {
    check_holds_nothing_else(out, folder);
    if (!begins_or_joins(folder, job))
      throw failure({.where = out.string(), .what = holds, .hint = "--resume goes on with it"});
  }
  return PieceFolder(folder);
}

std::optional<std::vector<std::string>> share_pieces(const PieceFolder& folder,
                                                     const std::vector<Piece>& pieces,
                                                     const std::function<std::string(size_t)>& work,
                                                     const JobControl& control) {
  std::vector<std::optional<std::string>> notes(pieces.size());
  Stopwatch waiting;
  while (!control.is_cancelled()) {
    bool has_worked = false;
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (!notes[i]) notes[i] = folder.note_of(pieces[i]);
      if (notes[i]) continue;
      const std::optional<FileDescriptor> lock = folder.claim(pieces[i]);
      if (!lock) continue;
      std::string note = work(i);
      if (control.is_cancelled()) return {};
      folder.done(pieces[i], note);
      notes[i] = std::move(note);
      has_worked = true;
    }
    const auto missing = std::ranges::find_if(notes, [](const auto& note) { return !note; });
    if (missing == notes.end()) {
      std::vector<std::string> all;
      for (std::optional<std::string>& note : notes) all.push_back(*std::move(note));
      return all;
    }
    if (has_worked) {
      waiting.lap();
      continue;
    }
    if (waiting.seconds() > kTellWaiting) {
      const Piece& piece = pieces[static_cast<size_t>(missing - notes.begin())];
      control.info("waiting for {}: {} has it", piece.name, folder.owner_of(piece));
      waiting.lap();
    }
    std::this_thread::sleep_for(kPoll);
  }
  return {};
}

}  // namespace sluice
