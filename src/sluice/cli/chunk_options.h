// How a text is cut for a model: --chunk, --chunks, --stride and --bos.
#pragma once

#include "sluice/cli/options.h"
#include "sluice/eval/chunked_text.h"

namespace sluice::cli {

struct ChunkingOptions {
  int length = 512, at_most = 50;
  std::optional<std::int64_t> stride = {};
  std::string begin_of_text = {};  // empty: not given

  void declare(Options& options);

  // Usage error for a stride that would leave tokens out.
  ChunkOptions chunks() const;
};

}  // namespace sluice::cli
