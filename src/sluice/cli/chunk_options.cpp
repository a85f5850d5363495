#include "sluice/cli/chunk_options.h"

#include <fmt/format.h>

#include "sluice/base/error.h"

namespace sluice::cli {
namespace {

constexpr long kMaxLength = 1 << 20, kMaxChunks = 1 << 24;

BeginOfText begin_named(const std::string& word) {
  for (const BeginOfText begin : {BeginOfText::Text, BeginOfText::Chunk})
    if (word == name_of(begin)) return begin;
  return BeginOfText::None;
}

}  // namespace

void ChunkingOptions::declare(Options& options, Overlap overlap) {
  options.integer({.name = "--chunk",
                   .value = "N",
                   .text = "Tokens per chunk, what the model sees at once (default: 512)",
                   .low = 2,
                   .high = kMaxLength},
                  length);
  options.integer({.name = "--chunks",
                   .value = "N",
                   .text = "Chunks at most (default: 50; with --held-out: all)",
                   .low = 1,
                   .high = kMaxChunks},
                  at_most);
  if (overlap == Overlap::Possible) {
    options.integer({.name = "--stride",
                     .value = "N",
                     .text = "Begin a chunk every N tokens and predict only what the one before did not have "
                             "(default: chunks do not overlap)",
                     .low = 1,
                     .high = kMaxLength},
                    stride);
  }
  options.choice({.name = "--bos",
                  .value = "WHERE",
                  .text = "Put the model's begin-of-text token before the text, or before every chunk: none, "
                          "text or chunk (default: none)",
                  .words = {"none", "text", "chunk"}},
                 begin_of_text);
}

ChunkOptions ChunkingOptions::chunks() const {
  ChunkOptions options{.stride = stride, .begin_of_text = begin_named(begin_of_text)};
  options.length = length.value_or(options.length);
  options.at_most = at_most.value_or(options.at_most);
  if (stride && *stride > options.room())
    throw usage_error({.where = "--stride",
                       .what = "tokens between two chunks would be left out",
                       .expected = fmt::format("at most {}, the tokens of a chunk", options.room()),
                       .got = std::to_string(*stride)});
  return options;
}

ChunkOptions ChunkingOptions::of_held_out(const std::string& command) const {
  if (length || stride || !begin_of_text.empty()) {
    throw usage_error(
        {.where = command,
         .what = "--held-out takes none of --chunk, --stride and --bos: chunks are the run's sequences"});
  }
  return {.at_most = at_most.value_or(kMaxChunks)};
}

}  // namespace sluice::cli
