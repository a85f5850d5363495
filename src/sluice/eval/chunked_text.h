// A text as tokens, and the chunks in which a model sees it. Where the tokens come from is text_source.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sluice/text/vocabulary.h"

namespace sluice {

// Where a begin-of-text token stands that is no part of the text.
enum class BeginOfText { None, Text, Chunk };  // nowhere, before the text, before every chunk

std::string_view name_of(BeginOfText begin);

struct ChunkOptions {
  int64_t length = 512;                // tokens, the begin-of-text token of the chunk among them
  int64_t at_most = 50;                // chunks
  std::optional<int64_t> stride = {};  // tokens from one chunk to the next; none: chunks do not overlap
  BeginOfText begin_of_text = BeginOfText::None;

  // Tokens of the text that a chunk has room for.
  int64_t room() const { return length - (begin_of_text == BeginOfText::Chunk ? 1 : 0); }
};

struct Chunk {
  std::vector<TokenId> ids;
  int64_t predicted = 0;  // the last of them: those that no chunk before it had, and that something precedes
};

// Every token is predicted at most once.
struct ChunkedText {
  std::vector<TokenId> tokens;  // what the chunks cover
  int64_t chunk_length = 0;
  int64_t stride = 0;
  BeginOfText begin_of_text = BeginOfText::None;
  std::optional<TokenId> begin_of_chunk = {};
  std::optional<int64_t> predicted_bytes = {};  // of text, in the predicted tokens

  int64_t room() const { return chunk_length - (begin_of_chunk ? 1 : 0); }
  int64_t chunks() const;
  Chunk chunk(int64_t index) const;
};

// Without a stride: whole chunks side by side; what is left behind them is left out. With one: chunks begin
// at its multiples, and the last ends with the text and may be shorter. Tokens that make no whole chunk are
// one.
ChunkedText cut_into_chunks(std::vector<TokenId> tokens, const ChunkOptions& options,
                            std::optional<TokenId> begin_of_text);

}  // namespace sluice
