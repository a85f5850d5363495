#include "sluice/eval/text_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/error.h"
#include "sluice/data/text_reader.h"
#include "sluice/data/token_shard.h"
#include "sluice/text/token_ids.h"

namespace sluice {
namespace {

struct Tokens {
  std::vector<TokenId> ids;
  bool have_text = false;  // of token ids alone nobody knows the text, and the end of a document has none
};

// One function per kind of source.
class Reader {
 public:
  Reader(const LoadedModel& model, const ChunkOptions& options)
      : model_(model), wanted_(options.length * options.at_most) {}

  Tokens operator()(const std::string& text) const { return {model_.encode(text), true}; }

  Tokens operator()(const std::vector<TokenId>& ids) const {
    const int64_t vocabulary = model_.config().vocabulary;
    const auto bad = std::ranges::find_if(ids, [&](TokenId id) { return id < 0 || id >= vocabulary; });
    if (bad == ids.end()) return {ids};
    throw bad_input({.where = "token ids",
                     .expected = fmt::format("integers from 0 to {}", vocabulary - 1),
                     .got = std::to_string(*bad)});
  }

  Tokens operator()(const IdsFile& file) const {
    return {parse_ids(read_input(file.path), model_.config().vocabulary, input_name(file.path),
                      ErrorKind::BadInput)};
  }

  Tokens operator()(const DataFiles& files) const {
    if (std::ranges::any_of(files.paths, is_token_shard)) {
      if (files.format) throw usage_error({.where = "--format", .what = "token shards have none"});
      return {tokens_of_shards(files.paths)};
    }
    std::string text;
    for (const std::string& path : files.paths) {
      const TextFormat format = files.format.value_or(format_named(path));
      const char* end = format == TextFormat::JsonLines ? "\n" : "";
      for_each_document(
          path, [&](std::string_view document) { text.append(document).append(end); }, files.format);
    }
    return (*this)(text);
  }

 private:
  void check_vocabulary(const TokenShard& shard) const {
    if (shard.info().vocabulary <= model_.config().vocabulary) return;
    throw bad_input({.where = shard.name(),
                     .what = "its tokens do not fit the model",
                     .expected = fmt::format("a vocabulary of at most {}", model_.config().vocabulary),
                     .got = std::to_string(shard.info().vocabulary)});
  }

  // Only what the chunks need: shards may be larger than memory.
  std::vector<TokenId> tokens_of_shards(const std::vector<std::string>& paths) const {
    int64_t left = wanted_;
    std::vector<TokenId> tokens;
    for (const std::string& path : paths) {
      if (!is_token_shard(path))
        throw bad_input({.where = input_name(path), .expected = "a token shard like the others"});
      const TokenShard shard(path);
      check_vocabulary(shard);
      std::vector<TokenId> some(static_cast<size_t>(std::min(left, shard.info().tokens)));
      shard.read(0, some);
      tokens.insert(tokens.end(), some.begin(), some.end());
      left -= std::ssize(some);
    }
    return tokens;
  }

  const LoadedModel& model_;
  int64_t wanted_;  // tokens
};

int64_t predicted_bytes(const ChunkedText& text, const Tokenizer& tokenizer) {
  int64_t bytes = 0;
  for (int64_t i = 0; i < text.chunks(); ++i) bytes += std::ssize(tokenizer.decode(text.chunk(i).subspan(1)));
  return bytes;
}

}  // namespace

ChunkedText read_chunks(const LoadedModel& model, const TextSource& source, const ChunkOptions& options) {
  SLUICE_ASSERT(options.length >= 2 && options.at_most >= 1, "chunks: {} of {} tokens", options.at_most,
                options.length);
  Tokens tokens = std::visit(Reader(model, options), source);
  const int64_t count = std::ssize(tokens.ids);
  if (count < 2) {
    throw bad_input({.where = "the text",
                     .what = "nothing to predict",
                     .expected = "at least 2 tokens",
                     .got = std::to_string(count)});
  }
  ChunkedText text{.tokens = std::move(tokens.ids), .chunk_length = std::min(options.length, count)};
  text.tokens.resize(static_cast<size_t>(std::min(options.at_most, text.chunks()) * text.chunk_length));
  if (tokens.have_text) text.predicted_bytes = predicted_bytes(text, model.tokenizer());
  return text;
}

}  // namespace sluice
