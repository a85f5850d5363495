// A shard: token ids in a file that is mapped and not read, with the places where documents end. Writing one:
// data/token_shard_writer.h.
//
// The file, all numbers little endian and without sign:
//
//   offset   bytes
//        0       8  "SLUICTOK"
//        8       4  version, 1
//       12       4  W, the bytes of a token: 2 or 4
//       16       8  V, the vocabulary: all ids are below it. At most 65,536 if W is 2, else 2^31 - 1
//       24       8  N, tokens
//       32       8  D, documents
//       40       8  bytes of the text that the tokens were made of; 0 if that is not known
//       48       4  the id that ends every document, below V
//       52       4  CRC-32 of all that follows the header
//       56       4  fingerprint of the tokenizer (text/tokenizer.h); 0 in shards that do not say
//       60       4  CRC-32 of bytes 0 … 59
//       64     N·W  token ids, document after document
//                   zeros up to the next multiple of 8
//              D·8  for every document the number of tokens up to its end: they rise, the last is N
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "sluice/base/file.h"
#include "sluice/base/threads.h"
#include "sluice/text/vocabulary.h"

namespace sluice {

struct TokenShardInfo {
  int64_t width = 0;  // bytes of a token: 2 or 4
  int64_t vocabulary = 0;
  int64_t tokens = 0;
  int64_t documents = 0;
  int64_t text_bytes = 0;
  TokenId end_of_text = 0;
  uint32_t checksum = 0;   // of what follows the header
  uint32_t tokenizer = 0;  // fingerprint; 0: not known
};

// Immutable and cheap to copy; copies share the mapping. May be used from several threads at once.
class TokenShard {
 public:
  // Bad input if the file is damaged in any way: it is read as a whole, once, and whoever has a shard may
  // rely on it.
  explicit TokenShard(const std::filesystem::path& path);

  // The same of a file that is already mapped; messages call it `name`.
  TokenShard(std::shared_ptr<const MappedFile> file, std::string name);

  // Of bytes that the caller keeps, named `name` in messages. Header, size and document ends are checked, the
  // tokens are not: read() looks at those that are asked for, verify() at all.
  TokenShard(std::span<const std::byte> bytes, std::string name);

  const std::string& name() const { return name_; }
  const TokenShardInfo& info() const { return info_; }

  // The tokens of a document, its end included; never empty.
  Range document(int64_t index) const;

  // The tokens from `begin` on. Bad input for an id outside the vocabulary.
  void read(int64_t begin, std::span<TokenId> out) const;

  // Reads everything: bad input if it is damaged or any id is outside the vocabulary.
  void verify() const;

 private:
  void check_document_ends() const;

  std::shared_ptr<const MappedFile> file_;
  std::span<const std::byte> bytes_;
  std::string name_;
  TokenShardInfo info_;
};

// Whether a file begins as one: for commands that take text and shards alike. False for what cannot be read.
bool is_token_shard(const std::filesystem::path& path);

}  // namespace sluice
