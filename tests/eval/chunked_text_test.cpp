#include "sluice/eval/chunked_text.h"

#include <gtest/gtest.h>

#include <numeric>

namespace sluice {
namespace {

constexpr TokenId kBegin = 99;

ChunkedText counted_to(int64_t count, const ChunkOptions& options) {
  std::vector<TokenId> tokens(static_cast<size_t>(count));
  std::iota(tokens.begin(), tokens.end(), 0);
  const bool begins = options.begin_of_text != BeginOfText::None;
  return cut_into_chunks(tokens, options, begins ? std::optional(kBegin) : std::nullopt);
}

// "0 1 2|3": what is behind the bar is predicted.
std::vector<std::string> chunks_of(int64_t count, const ChunkOptions& options) {
  const ChunkedText text = counted_to(count, options);
  std::vector<std::string> chunks;
  for (int64_t i = 0; i < text.chunks(); ++i) {
    const Chunk chunk = text.chunk(i);
    std::string& line = chunks.emplace_back();
    for (int64_t t = 0; t < std::ssize(chunk.ids); ++t) {
      const bool bar = t == std::ssize(chunk.ids) - chunk.predicted;
      if (t > 0) line += bar ? "|" : " ";
      line += std::to_string(chunk.ids[static_cast<size_t>(t)]);
    }
  }
  return chunks;
}

using Lines = std::vector<std::string>;

TEST(ChunkedTexts, lie_side_by_side_without_a_stride_and_leave_the_rest_out) {
  EXPECT_EQ(chunks_of(10, {.length = 4}), (Lines{"0|1 2 3", "4|5 6 7"}));
  EXPECT_EQ(chunks_of(3, {.length = 4}), (Lines{"0|1 2"}));
  EXPECT_EQ(chunks_of(100, {.length = 4, .at_most = 1}), (Lines{"0|1 2 3"}));
}

TEST(ChunkedTexts, slide_by_the_stride_to_the_end_and_predict_what_is_new) {
  EXPECT_EQ(chunks_of(9, {.length = 4, .stride = 2}), (Lines{"0|1 2 3", "2 3|4 5", "4 5|6 7", "6 7|8"}));
  EXPECT_EQ(chunks_of(5, {.length = 4, .stride = 1}), (Lines{"0|1 2 3", "1 2 3|4"}));
  EXPECT_EQ(chunks_of(9, {.length = 4, .at_most = 2, .stride = 2}), (Lines{"0|1 2 3", "2 3|4 5"}));
  EXPECT_EQ(chunks_of(3, {.length = 4, .stride = 2}), (Lines{"0|1 2"}));
}

TEST(ChunkedTexts, with_a_stride_of_a_whole_chunk_keep_the_rest_unless_it_predicts_nothing) {
  EXPECT_EQ(chunks_of(6, {.length = 4, .stride = 4}), (Lines{"0|1 2 3", "4|5"}));
  EXPECT_EQ(chunks_of(5, {.length = 4, .stride = 4}), (Lines{"0|1 2 3"}));
}

TEST(ChunkedTexts, begin_with_a_token_before_the_text) {
  const ChunkOptions options{.length = 4, .stride = 2, .begin_of_text = BeginOfText::Text};
  EXPECT_EQ(chunks_of(5, options), (Lines{"99|0 1 2", "1 2|3 4"}));
}

TEST(ChunkedTexts, begin_with_a_token_before_every_chunk_which_has_room_for_one_less) {
  ChunkOptions options{.length = 4, .begin_of_text = BeginOfText::Chunk};
  EXPECT_EQ(chunks_of(7, options), (Lines{"99|0 1 2", "99|3 4 5"}));
  options.stride = 3;
  EXPECT_EQ(chunks_of(7, options), (Lines{"99|0 1 2", "99|3 4 5", "99|6"}));
  options.stride = 2;
  EXPECT_EQ(chunks_of(5, options), (Lines{"99|0 1 2", "99 2|3 4"}));
}

TEST(ChunkedTexts, with_a_stride_predict_every_token_but_the_first_once) {
  for (int64_t length = 2; length <= 7; ++length) {
    for (int64_t stride = 1; stride < length; ++stride) {
      for (int64_t count = 2; count <= 20; ++count) {
        const ChunkedText text = counted_to(count, {.length = length, .stride = stride});
        int64_t next = 1;
        for (int64_t i = 0; i < text.chunks(); ++i) {
          const Chunk chunk = text.chunk(i);
          ASSERT_EQ(chunk.ids[chunk.ids.size() - static_cast<size_t>(chunk.predicted)], next);
          next += chunk.predicted;
        }
        ASSERT_EQ(next, count) << "chunks of " << length << ", stride " << stride;
      }
    }
  }
}

}  // namespace
}  // namespace sluice
