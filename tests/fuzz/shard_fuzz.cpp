// libFuzzer target: any bytes as a token shard are either bad input or documents that cover all tokens.
//   clang++ -fsanitize=fuzzer,address,undefined
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "sluice/base/error.h"
#include "sluice/data/token_shard.h"
#include "sluice/data/token_shard_header.h"

namespace {

// Most inputs fail at the checksum of the header; with a right one the fuzzer gets behind it.
std::vector<std::byte> sealed(std::span<const std::byte> bytes) {
  std::vector<std::byte> file(bytes.begin(), bytes.end());
  constexpr std::size_t kChecksumAt = 60;
  if (file.size() < sluice::kShardHeaderBytes) return file;
  const std::uint32_t checksum = sluice::shard_checksum(0, std::span(file).first(kChecksumAt));
  for (std::size_t i = 0; i < 4; ++i) file[kChecksumAt + i] = static_cast<std::byte>(checksum >> 8 * i);
  return file;
}

void use(std::span<const std::byte> bytes) {
  try {
    const sluice::TokenShard shard(bytes, "fuzz");
    std::int64_t end = 0;
    for (std::int64_t i = 0; i < shard.info().documents; ++i) {
      const sluice::Range document = shard.document(i);
      if (document.begin != end || document.size() <= 0) std::abort();
      end = document.end;
    }
    if (end != shard.info().tokens) std::abort();
    std::vector<sluice::TokenId> ids(static_cast<std::size_t>(end));
    shard.read(0, ids);
    for (const sluice::TokenId id : ids)
      if (id < 0 || id >= shard.info().vocabulary) std::abort();
    shard.verify();
  } catch (const sluice::Error& error) {
    if (error.kind() != sluice::ErrorKind::BadInput) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  use(bytes);
  use(sealed(bytes));
  return 0;
}
