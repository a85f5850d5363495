#include "sluice/data/tokenize.h"

#include <algorithm>
#include <utility>

#include "sluice/base/assert.h"
#include "sluice/base/error.h"
#include "sluice/data/text_reader.h"
#include "sluice/data/token_shard_writer.h"

namespace sluice {
namespace {

constexpr const char* kEndsOfText[] = {kEndOfText, "<|end_of_text|>", "</s>", "<eos>", "<|eos|>"};

// Text that waits for the threads: about a thousand documents, little against a corpus.
constexpr size_t kWaitingBytes = size_t{1} << 20;

class DocumentEncoder {
 public:
  DocumentEncoder(const Tokenizer& tokenizer, const TokenizeRequest& request, const Threads& threads,
                  const JobControl& control)
      : tokenizer_(tokenizer),
        request_(request),
        threads_(threads),
        control_(control),
        writer_(request.out, {.vocabulary = tokenizer.size(),
                              .end_of_text = request.end_of_text,
                              .tokenizer = tokenizer.fingerprint()}) {}

  void add(std::string_view document) {
    if (document.empty()) return;
    waiting_.emplace_back(document);
    waiting_bytes_ += document.size();
    if (waiting_bytes_ >= kWaitingBytes) encode_waiting();
  }

  TokenShardInfo finish() {
    encode_waiting();
    if (documents_ == 0)
      throw bad_input({.where = input_name(request_.files.back()), .what = "no text in it"});
    fill_piece();
    return writer_.commit();
  }

 private:
  void encode_waiting() {
    control_.stop_if_cancelled();
    std::vector<std::vector<TokenId>> ids(waiting_.size());
    threads_.each(static_cast<int64_t>(waiting_.size()), [&](int64_t i) {
      const auto at = static_cast<size_t>(i);
      ids[at] = tokenizer_.encode(waiting_[at]);
    });
    for (size_t i = 0; i < ids.size(); ++i) write(ids[i], waiting_[i].size());
    documents_ += std::ssize(ids);
    control_.report("documents", documents_, 0);
    waiting_.clear();
    waiting_bytes_ = 0;
  }

  void write(std::span<const TokenId> document, size_t text_bytes) {
    if (!request_.piece_tokens) return writer_.add(document, text_bytes);
    piece_bytes_ += text_bytes;
    for (const TokenId id : document) append_to_piece(id);
    append_to_piece(request_.end_of_text);
  }

  void append_to_piece(TokenId id) {
    if (piece_.empty()) piece_.push_back(request_.end_of_text);
    piece_.push_back(id);
    if (std::ssize(piece_) + 1 == *request_.piece_tokens) write_piece();  // the writer puts the end behind it
  }

  // What is left of the text, if anything is. A shorter piece would move the beginnings of all that another
  // shard adds.
  void fill_piece() {
    const bool is_text_left =
        std::ranges::any_of(piece_, [&](TokenId id) { return id != request_.end_of_text; });
    if (!is_text_left) piece_.clear();
    while (!piece_.empty()) append_to_piece(request_.end_of_text);
  }

  void write_piece() {
    writer_.add(piece_, std::exchange(piece_bytes_, 0));
    piece_.clear();
  }

  const Tokenizer& tokenizer_;
  const TokenizeRequest& request_;
  const Threads& threads_;
  const JobControl& control_;
  TokenShardWriter writer_;
  std::vector<std::string> waiting_;
  size_t waiting_bytes_ = 0;
  int64_t documents_ = 0;
  std::vector<TokenId> piece_;  // that is not full yet
  size_t piece_bytes_ = 0;      // of the texts that begin in it
};

}  // namespace

bool ends_text(std::string_view special) {
  return std::ranges::find(kEndsOfText, special) != std::end(kEndsOfText);
}

TokenId end_of_text_of(const Tokenizer& tokenizer) {
  for (const char* name : kEndsOfText) {
    const std::optional<TokenId> id = tokenizer.token_to_id(name);
    if (id && tokenizer.is_special(*id)) return *id;
  }
  return tokenizer.encode(std::string_view("\0", 1)).front();
}

TokenShardInfo tokenize_files(const Tokenizer& tokenizer, const TokenizeRequest& request,
                              const Threads& threads, const JobControl& control) {
  SLUICE_ASSERT(!request.files.empty(), "tokenize_files: no files");
  SLUICE_ASSERT(request.piece_tokens.value_or(kFewestPieceTokens) >= kFewestPieceTokens,
                "tokenize_files: pieces of {} tokens", request.piece_tokens.value_or(0));
  DocumentEncoder encoder(tokenizer, request, threads, control);
  for (const std::string& file : request.files)
    for_each_document(
        file, [&](std::string_view document) { encoder.add(document); }, request.format);
  return encoder.finish();
}

}  // namespace sluice
