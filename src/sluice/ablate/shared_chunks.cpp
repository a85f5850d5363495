#include "sluice/ablate/shared_chunks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace sluice {
namespace {

constexpr auto kLookAgain = std::chrono::milliseconds(20);
// Chunks that are looked for work to do: each of them is a file to look at.
constexpr size_t kMostAhead = 64;

}  // namespace

SharedChunks::SharedChunks(PieceFolder folder, const JobIdentity& identity)
    : folder_(std::move(folder)), fingerprint_(fingerprint_of(identity)) {}

Piece SharedChunks::piece_of(const Place& place, int64_t chunk) const {
  return {.name = fmt::format("model-{}/text-{}/from-{}/chunk-{}", place.model, place.text, place.first_run,
                              chunk),
          .fingerprint = fingerprint_};
}

bool SharedChunks::run_if_free(const Place& place, int64_t chunk, const Compute& compute) const {
  const Piece piece = piece_of(place, chunk);
  const std::optional<FileDescriptor> lock = folder_.claim(piece);
  if (!lock) return false;
  folder_.done(piece, text_of(compute(chunk)));
  return true;
}

std::vector<LogEntry> SharedChunks::get(const Place& place, std::span<const int64_t> chunks,
                                        const Compute& compute, const JobControl& control) const {
  const Piece wanted = piece_of(place, chunks.front());
  while (true) {
    if (const std::optional<std::string> note = folder_.note_of(wanted))
      return entries_in(*note, wanted.name);
    control.stop_if_cancelled();
    bool has_worked = false;
    for (size_t i = 0; i < std::min(chunks.size(), kMostAhead) && !has_worked; ++i)
      has_worked = run_if_free(place, chunks[i], compute);
    if (!has_worked) std::this_thread::sleep_for(kLookAgain);
  }
}

}  // namespace sluice
