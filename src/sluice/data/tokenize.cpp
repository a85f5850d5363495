#include "sluice/data/tokenize.h"

#include <algorithm>

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
    for (size_t i = 0; i < ids.size(); ++i) writer_.add(ids[i], waiting_[i].size());
    documents_ += std::ssize(ids);
    control_.report("documents", documents_, 0);
    waiting_.clear();
    waiting_bytes_ = 0;
  }

  const Tokenizer& tokenizer_;
  const TokenizeRequest& request_;
  const Threads& threads_;
  const JobControl& control_;
  TokenShardWriter writer_;
  std::vector<std::string> waiting_;
  size_t waiting_bytes_ = 0;
  int64_t documents_ = 0;
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
  DocumentEncoder encoder(tokenizer, request, threads, control);
  for (const std::string& file : request.files)
    for_each_document(
        file, [&](std::string_view document) { encoder.add(document); }, request.format);
  return encoder.finish();
}

}  // namespace sluice
