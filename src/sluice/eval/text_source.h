// What a model is evaluated on: from files, ids or a text to chunks of tokens.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sluice/infer/loaded_model.h"
#include "sluice/text/text_format.h"

namespace sluice {

// Texts as data/text_reader.h takes them, read as one: documents of a .jsonl are lines of it. Or token
// shards, all of them.
struct DataFiles {
  std::vector<std::string> paths;
  std::optional<TextFormat> format = {};  // of all texts; none: as their names say
};

// Token ids, written out.
struct IdsFile {
  std::string path;
};

// A text itself, its tokens, or where either is found.
using TextSource = std::variant<std::string, std::vector<TokenId>, DataFiles, IdsFile>;

struct ChunkOptions {
  int64_t length = 512;  // tokens
  int64_t at_most = 50;  // chunks
};

// Chunks follow each other without overlap. All have the same length.
struct ChunkedText {
  std::vector<TokenId> tokens;  // those behind the last chunk are left out
  int64_t chunk_length = 0;
  std::optional<int64_t> predicted_bytes = {};  // of text, without the first token of each chunk

  int64_t chunks() const { return std::ssize(tokens) / chunk_length; }
  std::span<const TokenId> chunk(int64_t index) const {
    return std::span(tokens).subspan(static_cast<size_t>(index * chunk_length),
                                     static_cast<size_t>(chunk_length));
  }
};

// Whole chunks, or the one that the tokens make if they are fewer than that. Bad input if they are fewer than
// two, or do not fit the model. Only text needs the model's tokenizer.
ChunkedText read_chunks(const LoadedModel& model, const TextSource& source, const ChunkOptions& options = {});

}  // namespace sluice
