#include "sluice/eval/text_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/error.h"
#include "sluice/data/held_out.h"
#include "sluice/data/text_reader.h"
#include "sluice/data/token_shard.h"
#include "sluice/data/tokenize.h"
#include "sluice/data/tokenizer_match.h"
#include "sluice/model/model_directory.h"
#include "sluice/text/token_ids.h"

namespace sluice {
namespace {

struct Tokens {
  std::vector<TokenId> ids = {};
  bool have_text = false;                 // of token ids alone nobody knows the text
  std::optional<TokenId> separator = {};  // between documents, without any text
  int64_t chunk_length = 0;               // 0: as the options say
};

// One function per kind of source.
class Reader {
 public:
  Reader(const LoadedModel& model, const ChunkOptions& options, const JobControl& control)
      : model_(model),
        at_most_(options.at_most),
        wanted_(options.length + (options.at_most - 1) * options.stride.value_or(options.length)),
        control_(control) {}

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

  // Sequence i begins with the last token of the one before, so that every token is predicted once.
  Tokens operator()(const HeldOutText& text) const {
    const std::filesystem::path run = run_directory_of(model_.path());
    if (run.empty())
      throw bad_input({.where = model_.path().string(), .what = "not of a run: nothing was held out"});
    const PackedSequences sequences =
        open_held_out({.run = run, .moved = text.files}, model_.engine().threads(), control_);
    check_fits(sequences.shards(), model_.config().vocabulary);
    check_made_by(sequences.shards(), model_.tokenizer_fingerprint(), model_.path().string());
    Tokens tokens{.chunk_length = sequences.length() + 1};
    for (int64_t i = 0; i < std::min(sequences.count(), at_most_); ++i) {
      tokens.ids.resize(static_cast<size_t>((i + 1) * tokens.chunk_length));
      sequences.read(i, std::span(tokens.ids).last(static_cast<size_t>(tokens.chunk_length)));
    }
    return tokens;
  }

  Tokens operator()(const DataFiles& files) const {
    if (std::ranges::any_of(files.paths, is_token_shard)) {
      if (files.format) throw usage_error({.where = "--format", .what = "token shards have none"});
      return {tokens_of_shards(files.paths)};
    }
    Tokens tokens{.ids = {}, .have_text = true};
    for (const std::string& path : files.paths)
      for_each_document(
          path, [&](std::string_view document) { add(document, tokens); }, files.format);
    return tokens;
  }

 private:
  void add(std::string_view document, Tokens& tokens) const {
    if (document.empty() || std::ssize(tokens.ids) >= wanted_) return;
    if (!tokens.ids.empty()) {
      if (!tokens.separator) tokens.separator = separator();
      tokens.ids.push_back(*tokens.separator);
    }
    const std::vector<TokenId> ids = model_.encode(document);
    tokens.ids.insert(tokens.ids.end(), ids.begin(), ids.end());
  }

  TokenId separator() const {
    const TokenId id = end_of_text_of(model_.tokenizer());
    if (id < model_.config().vocabulary) return id;
    throw bad_input({.where = model_.path().string(),
                     .what = "the tokenizer's end-of-text token does not fit the model",
                     .expected = fmt::format("a token id below {}", model_.config().vocabulary),
                     .got = std::to_string(id)});
  }

  // Only what the chunks need: shards may be larger than memory.
  std::vector<TokenId> tokens_of_shards(const std::vector<std::string>& paths) const {
    int64_t left = wanted_;
    std::vector<TokenId> tokens;
    std::vector<TokenShard> shards;
    for (const std::string& path : paths) {
      if (!is_token_shard(path))
        throw bad_input({.where = input_name(path), .expected = "a token shard like the others"});
      shards.emplace_back(path);
    }
    check_fits(shards, model_.config().vocabulary);
    check_one_tokenizer(shards);
    check_made_by(shards, model_.tokenizer_fingerprint(), model_.path().string());
    warn_of_unknown_tokenizer(shards, control_);
    for (const TokenShard& shard : shards) {
      std::vector<TokenId> some(static_cast<size_t>(std::min(left, shard.info().tokens)));
      shard.read(0, some);
      tokens.insert(tokens.end(), some.begin(), some.end());
      left -= std::ssize(some);
      // What joins documents is between them: none behind the last.
      const bool ends = &shard == &shards.back() && std::ssize(some) == shard.info().tokens && !some.empty();
      if (ends && some.back() == shard.info().end_of_text) tokens.pop_back();
    }
    return tokens;
  }

  const LoadedModel& model_;
  int64_t at_most_;  // chunks
  int64_t wanted_;   // tokens
  const JobControl& control_;
};

int64_t predicted_bytes(const ChunkedText& text, const Tokenizer& tokenizer,
                        std::optional<TokenId> separator) {
  int64_t bytes = 0;
  for (int64_t i = 0; i < text.chunks(); ++i) {
    Chunk chunk = text.chunk(i);
    chunk.ids.erase(chunk.ids.begin(), chunk.ids.end() - chunk.predicted);
    if (separator) std::erase(chunk.ids, *separator);
    bytes += std::ssize(tokenizer.decode(chunk.ids));
  }
  return bytes;
}

std::optional<TokenId> begin_of_text(const LoadedModel& model, const ChunkOptions& options) {
  if (options.begin_of_text == BeginOfText::None) return {};
  const std::optional<int64_t> id = model.config().begin_of_text;
  const int64_t vocabulary = model.config().vocabulary;
  if (id && *id >= 0 && *id < vocabulary) return static_cast<TokenId>(*id);
  throw bad_input({.where = (model.path() / "config.json").string(),
                   .what = "--bos needs a begin-of-text token",
                   .expected = fmt::format("bos_token_id from 0 to {}", vocabulary - 1),
                   .got = id ? std::to_string(*id) : "none"});
}

}  // namespace

ChunkedText read_chunks(const LoadedModel& model, const TextSource& source, const ChunkOptions& options,
                        const JobControl& control) {
  const std::optional<TokenId> begin = begin_of_text(model, options);
  Tokens tokens = std::visit(Reader(model, options, control), source);
  const int64_t count = std::ssize(tokens.ids) + (begin ? 1 : 0);
  if (count < 2) {
    throw bad_input({.where = "the text",
                     .what = "nothing to predict",
                     .expected = "at least 2 tokens",
                     .got = std::to_string(count)});
  }
  SLUICE_ASSERT(tokens.chunk_length == 0 || (!options.stride && !begin),
                "chunks: those of held-out text are the run's sequences");
  ChunkOptions cut = options;
  if (tokens.chunk_length > 0) cut.length = tokens.chunk_length;
  ChunkedText text = cut_into_chunks(std::move(tokens.ids), cut, begin);
  if (tokens.have_text) text.predicted_bytes = predicted_bytes(text, model.tokenizer(), tokens.separator);
  return text;
}

}  // namespace sluice
