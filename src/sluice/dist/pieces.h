// Independent pieces of a job, shared out over processes that need not know of each other: who locks a
// piece's file works on it, and leaves word when it is done. A process that dies loses its lock, and with it
// the piece to the next that looks. No MPI: a message to a dead process would end the others.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sluice/base/file_descriptor.h"
#include "sluice/base/job_control.h"
#include "sluice/dist/job_identity.h"

namespace sluice {

struct Piece {
  std::string name;         // of its own among the pieces of a job
  std::string fingerprint;  // of what is to be done: a piece that was done otherwise is done again
};

// The files of some pieces, in a folder that all processes see, on a file system that has locks (flock).
class PieceFolder {
 public:
  explicit PieceFolder(std::filesystem::path folder);

  // What done() left, if it was for this fingerprint.
  std::optional<std::string> note_of(const Piece& piece) const;
  bool is_done(const Piece& piece) const;                     // whether there is a note
  std::filesystem::path note_file(const Piece& piece) const;  // where it is, or will be

  // The lock of a piece that nobody works on; none if somebody does, or if it is done.
  std::optional<FileDescriptor> claim(const Piece& piece) const;

  // The same, also of one that is done.
  std::optional<FileDescriptor> lock(const Piece& piece) const;

  // Word for all that the piece is done; `note` is for whoever collects the results.
  void done(const Piece& piece, const std::string& note) const;

  // Whoever comes first leaves the identity of the job there, under a name; bad input, for those that come
  // later, if theirs is another.
  void join(const std::string& name, const JobIdentity& identity) const;

  // "host, process 1234": who works on a piece, or did last.
  std::string owner_of(const Piece& piece) const;

 private:
  std::filesystem::path file_of(const Piece& piece, const char* ending) const;

  std::filesystem::path folder_;
};

// Whether `folder` belongs to this job: the first of its processes makes it, the others find the same name.
bool begins_or_joins(const std::filesystem::path& folder, const std::string& job);

// Whether processes that share their work have begun something in this directory.
bool has_pieces(const std::filesystem::path& out);

// A failure if they have not, and there is something else in it.
void check_holds_nothing_else(const std::filesystem::path& out);

// How processes come to share a directory.
struct WorkSharing {
  bool joins = false;
  std::string job = {};  // that began it together; empty: any process may join
};

// What a kind of job leaves in its directory.
struct JobDirectory {
  std::string kind;  // "a sweep"
  std::string hint = "--resume goes on with it";
  bool can_be_joined_anyhow = true;  // also where one process has begun it alone
};

// The folder of pieces in `out`. Refused are processes that begin a job together if the directory holds
// anything that they have not put there, and all of them if it holds pieces of a job of another kind.
PieceFolder open_pieces(const std::filesystem::path& out, const std::string& job,
                        const JobDirectory& directory);

// Works on pieces that nobody has until all are done, by whomever; waits for those that others have. `work`
// gets a piece's place and returns its note. What it throws ends this process's part; others take the piece
// up. False if the job was cancelled before all were done.
bool share_pieces(const PieceFolder& folder, const std::vector<Piece>& pieces,
                  const std::function<std::string(size_t)>& work, const JobControl& control);

// Who of the processes that share a job has its result, and writes it down. Until it is published nothing is
// done: if that process dies, another one takes its place. Those that came to a directory by themselves,
// without a job in common, are told that one of them has it if it was published since they came.
class SharedResult {
 public:
  SharedResult(const PieceFolder& folder, const std::string& job);

  // Whether this process is to collect it; not if another does, or did.
  bool claim();

  // Waits for the one that does. True if it is gone without having published: then this one is to.
  bool outlives_collector(const JobControl& control);

  // Word for the others, from the one that collects.
  void publish();

 private:
  bool is_published() const;

  const PieceFolder& folder_;
  Piece piece_;
  std::optional<std::string> before_;  // what was there when this process came
  std::optional<FileDescriptor> lock_;
};

// What the processes of a job do for its result. All of them work, told whether they collect: the others can
// leave out what the collector alone needs. It alone publishes: whatever is written down of the result.
template <class Result>
struct ResultWork {
  std::function<Result(bool collects)> work;
  std::function<void(const Result&)> publish = {};
};

// The result, in the process that has published it; none in the others.
template <class Result>
std::optional<Result> collect(const PieceFolder& folder, const std::string& job,
                              const ResultWork<Result>& steps, const JobControl& control) {
  SharedResult shared(folder, job);
  const bool collects = shared.claim();
  Result own = steps.work(collects);
  if (!collects) {
    if (!shared.outlives_collector(control)) return {};
    own = steps.work(true);
  }
  if (steps.publish) steps.publish(own);
  shared.publish();
  return own;
}

}  // namespace sluice
