// Writes a token shard document by document; memory grows by eight bytes per document only.
#pragma once

#include <vector>

#include "sluice/base/atomic_file.h"
#include "sluice/data/token_shard.h"

namespace sluice {

class TokenShardWriter {
 public:
  struct Options {
    int64_t vocabulary = 0;
    TokenId end_of_text = 0;
    uint32_t tokenizer = 0;  // its fingerprint; 0: nobody knows what the ids stand for
  };

  // Nothing appears at `path` before commit(). Ids are stored in 2 bytes where the vocabulary allows it.
  TokenShardWriter(const std::filesystem::path& path, const Options& options);

  // The end-of-text id is put behind it. `text_bytes` is the size of the text that the tokens are of.
  void add(std::span<const TokenId> document, size_t text_bytes);

  TokenShardInfo commit();

 private:
  void write(std::span<const std::byte> bytes);
  void write_ids(std::span<const TokenId> ids);

  AtomicFile file_;
  TokenShardInfo info_;
  std::vector<uint64_t> ends_;
  std::vector<std::byte> stored_;  // ids of the current document as the file has them
};

}  // namespace sluice
