// How a text is cut for a model: --chunk, --chunks, --stride and --bos.
#pragma once

#include "sluice/cli/options.h"
#include "sluice/eval/chunked_text.h"

namespace sluice::cli {

struct ChunkingOptions {
  std::optional<std::int64_t> length = {}, at_most = {}, stride = {};
  std::string begin_of_text = {};  // empty: not given

  // Whether chunks may overlap: then there is --stride.
  enum class Overlap { None, Possible };
  void declare(Options& options, Overlap overlap);

  bool is_given() const { return length || at_most || stride || !begin_of_text.empty(); }

  // Usage error for a stride that would leave tokens out.
  ChunkOptions chunks() const;

  // Of what a run held out: its sequences, all of them unless --chunks says how many.
  ChunkOptions of_held_out(const std::string& command) const;
};

}  // namespace sluice::cli
