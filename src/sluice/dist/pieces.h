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

  // The lock of a piece that nobody works on; none if somebody does, or if it is done.
  std::optional<FileDescriptor> claim(const Piece& piece) const;

  // Word for all that the piece is done; `note` is for whoever collects the results.
  void done(const Piece& piece, const std::string& note) const;

  // "host, process 1234": who works on a piece, or did last.
  std::string owner_of(const Piece& piece) const;

 private:
  std::filesystem::path file_of(const Piece& piece, const char* ending) const;

  std::filesystem::path folder_;
};

// Whether `folder` belongs to this job: the first of its processes makes it, the others find the same name.
bool begins_or_joins(const std::filesystem::path& folder, const std::string& job);

// How processes come to share a directory.
struct WorkSharing {
  bool joins = false;
  std::string job = {};  // that began it together; empty: any process may join
};

// The folder of pieces in `out`. Processes that begin a job together are refused if the directory holds
// anything that they have not put there; `holds` says what it may be, as in "holds a sweep already".
PieceFolder open_pieces(const std::filesystem::path& out, const std::string& job, const std::string& holds);

// Works on pieces that nobody has until all are done, by whomever; waits for those that others have. `work`
// gets a piece's place and returns its note. What it throws ends this process's part; others take the piece
// up. The notes in the order of the pieces, or none if the job was cancelled.
std::optional<std::vector<std::string>> share_pieces(const PieceFolder& folder,
                                                     const std::vector<Piece>& pieces,
                                                     const std::function<std::string(size_t)>& work,
                                                     const JobControl& control);

}  // namespace sluice
