// A stream of packed bytes that is unpacked step by step: what data/compression.cpp has of every library.
#pragma once

#include <memory>
#include <span>
#include <string_view>

namespace sluice {

class Decompressor {
 public:
  enum class Status { More, End, Damaged, TooMuchMemory };

  virtual ~Decompressor() = default;

  // Unpacks what fits, and moves both behind what was used. End: of a member; the next call begins another.
  // Without progress the member is cut off.
  virtual Status step(std::string_view& packed, std::span<char>& out) = 0;
};

// What a dictionary or window may take. xz -9 asks for 64 MiB, zstd --ultra -22 for 128 MiB.
constexpr size_t kUnpackingMemory = size_t{1} << 28;

// Null where Sluice was built without the library.
std::unique_ptr<Decompressor> make_gzip_decompressor();
std::unique_ptr<Decompressor> make_bzip2_decompressor();
std::unique_ptr<Decompressor> make_xz_decompressor();
std::unique_ptr<Decompressor> make_zstd_decompressor();

}  // namespace sluice
