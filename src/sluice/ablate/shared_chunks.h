// The chunks of an ablation, shared out over processes (dist/pieces.h): whoever comes to a chunk first runs
// it and leaves the measures as the note of a piece, where the others find them. So every process has all
// measures in the end, and each the same.
#pragma once

#include <functional>
#include <span>

#include "sluice/ablate/ablation_log.h"
#include "sluice/dist/pieces.h"

namespace sluice {

class SharedChunks {
 public:
  // Pieces of another ablation do not count: they are done again.
  SharedChunks(PieceFolder folder, const JobIdentity& identity);

  // Some runs of a plan, from `first_run` on, on one text.
  struct Place {
    int64_t model = 0, text = 0, first_run = 0;
  };
  using Compute = std::function<std::vector<LogEntry>(int64_t chunk)>;

  // The entries of the first of these chunks. While another process runs it, this one runs those that come
  // next; a run that rests by then was run for nothing. Throws if it is cancelled.
  std::vector<LogEntry> get(const Place& place, std::span<const int64_t> chunks, const Compute& compute,
                            const JobControl& control) const;

 private:
  Piece piece_of(const Place& place, int64_t chunk) const;
  bool run_if_free(const Place& place, int64_t chunk, const Compute& compute) const;

  PieceFolder folder_;
  std::string fingerprint_;
};

}  // namespace sluice
