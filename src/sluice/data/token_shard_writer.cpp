#include "sluice/data/token_shard_writer.h"

#include <algorithm>
#include <cstring>

#include "sluice/base/assert.h"
#include "sluice/data/token_shard_header.h"

namespace sluice {
namespace {

template <typename Stored>
void append_as(std::span<const TokenId> ids, std::vector<std::byte>& out) {
  out.resize(ids.size() * sizeof(Stored));
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto id = static_cast<Stored>(ids[i]);
    std::memcpy(out.data() + i * sizeof id, &id, sizeof id);
  }
}

}  // namespace

TokenShardWriter::TokenShardWriter(const std::filesystem::path& path, const Options& options)
    : file_(path),
      info_{.width = shard_token_width(options.vocabulary),
            .vocabulary = options.vocabulary,
            .end_of_text = options.end_of_text,
            .tokenizer = options.tokenizer} {
  SLUICE_ASSERT(options.end_of_text >= 0 && options.end_of_text < options.vocabulary,
                "TokenShardWriter: end-of-text id {} of a vocabulary of {}", options.end_of_text,
                options.vocabulary);
  file_.write(ShardHeader{});  // its figures are known at the end
}

void TokenShardWriter::add(std::span<const TokenId> document, size_t text_bytes) {
  for (const TokenId id : document) {
    SLUICE_ASSERT(id >= 0 && id < info_.vocabulary, "TokenShardWriter: id {} of a vocabulary of {}", id,
                  info_.vocabulary);
  }
  write_ids(document);
  write_ids(std::span(&info_.end_of_text, 1));
  info_.tokens += static_cast<int64_t>(document.size()) + 1;
  info_.documents += 1;
  info_.text_bytes += static_cast<int64_t>(text_bytes);
  ends_.push_back(static_cast<uint64_t>(info_.tokens));
}

TokenShardInfo TokenShardWriter::commit() {
  const size_t written = kShardHeaderBytes + static_cast<size_t>(info_.tokens * info_.width);
  write(std::vector<std::byte>(shard_document_ends(info_) - written));
  write(std::as_bytes(std::span(ends_)));
  file_.overwrite(0, write_shard_header(info_));
  file_.commit();
  return info_;
}

void TokenShardWriter::write(std::span<const std::byte> bytes) {
  info_.checksum = shard_checksum(info_.checksum, bytes);
  file_.write(bytes);
}

void TokenShardWriter::write_ids(std::span<const TokenId> ids) {
  if (info_.width == 2) {
    append_as<uint16_t>(ids, stored_);
  } else {
    append_as<uint32_t>(ids, stored_);
  }
  write(stored_);
}

}  // namespace sluice
