#include "sluice/data/compression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sluice/base/error.h"
#include "sluice/data/decompressor.h"

namespace sluice {
namespace {

struct Packer {
  Compression compression;
  std::string_view name, ending;
  bool (*begins)(std::string_view bytes);
  std::unique_ptr<Decompressor> (*make)();
};

bool begins_as_gzip(std::string_view bytes) {
  return bytes.starts_with("\x1f\x8b");
}

// A level, then the digits of pi before the first block, or those of its root at once if there is none.
bool begins_as_bzip2(std::string_view bytes) {
  if (bytes.size() < 10 || !bytes.starts_with("BZh") || bytes[3] < '1' || bytes[3] > '9') return false;
  const std::string_view mark = bytes.substr(4, 6);
  return mark == "\x31\x41\x59\x26\x53\x59" || mark == "\x17\x72\x45\x38\x50\x90";
}

bool begins_as_xz(std::string_view bytes) {
  return bytes.starts_with(
      std::string_view("\xfd"
                       "7zXZ\0",
                       6));
}

// A frame, or one to be skipped, with which programs that pack in parallel begin.
bool begins_as_zstd(std::string_view bytes) {
  const bool skippable =
      bytes.size() > 4 && (bytes[0] & 0xF0) == 0x50 && bytes.substr(1, 3) == "\x2a\x4d\x18";
  return skippable || bytes.starts_with("\x28\xb5\x2f\xfd");
}

constexpr std::array<Packer, 4> kPackers = {{
    {Compression::Gzip, "gzip", ".gz", begins_as_gzip, make_gzip_decompressor},
    {Compression::Bzip2, "bzip2", ".bz2", begins_as_bzip2, make_bzip2_decompressor},
    {Compression::Xz, "xz", ".xz", begins_as_xz, make_xz_decompressor},
    {Compression::Zstd, "zstd", ".zst", begins_as_zstd, make_zstd_decompressor},
}};

const Packer& packer_of(Compression compression) {
  return *std::ranges::find(kPackers, compression, &Packer::compression);
}

std::optional<Compression> found(const Packer* packer) {
  return packer == kPackers.end() ? std::nullopt : std::optional(packer->compression);
}

// The unpacking of one file.
class Unpacking {
 public:
  Unpacking(const Packer& packer, const std::string& where, size_t max_bytes)
      : packer_(packer), where_(where), max_bytes_(max_bytes), decompressor_(packer.make()) {
    if (decompressor_ != nullptr) return;
    throw bad_input({.where = where,
                     .what = fmt::format("packed with {}, which this sluice was built without", packer.name),
                     .hint = fmt::format("unpack it first, with {} -d", packer.name)});
  }

  // One member from the front of `bytes`, which is moved behind it, added to `text`.
  void member(std::string_view& bytes, std::string& text) {
    for (auto status = Decompressor::Status::More; status != Decompressor::Status::End;) {
      const size_t left = bytes.size(), filled = text.size();
      text.resize(filled + kStep);
      std::span<char> room(text.data() + filled, kStep);
      status = decompressor_->step(bytes, room);
      text.resize(text.size() - room.size());
      check(status, text.size());
      if (status == Decompressor::Status::More && bytes.size() == left && text.size() == filled)
        throw told("is cut off");
    }
  }

  Error told(std::string_view what) const {
    return bad_input({.where = where_, .what = fmt::format("the {} file {}", packer_.name, what)});
  }

 private:
  static constexpr size_t kStep = size_t{1} << 20;

  void check(Decompressor::Status status, size_t size) const {
    if (status == Decompressor::Status::Damaged) throw told("is damaged");
    if (status == Decompressor::Status::TooMuchMemory)
      throw told(fmt::format("takes more than {} MiB of memory to unpack", kUnpackingMemory >> 20));
    if (size <= max_bytes_) return;
    throw bad_input({.where = where_,
                     .what = "too large when unpacked",
                     .expected = fmt::format("at most {} bytes", max_bytes_)});
  }

  const Packer& packer_;
  const std::string& where_;
  size_t max_bytes_;
  std::unique_ptr<Decompressor> decompressor_;
};

}  // namespace

std::string_view name_of(Compression compression) {
  return packer_of(compression).name;
}

std::vector<Compression> built_in_compressions() {
  std::vector<Compression> built_in;
  for (const Packer& packer : kPackers) {
    if (packer.make() != nullptr) built_in.push_back(packer.compression);
  }
  return built_in;
}

std::optional<Compression> compression_of(std::string_view bytes) {
  return found(std::ranges::find_if(kPackers, [&](const Packer& each) { return each.begins(bytes); }));
}

std::optional<Compression> compression_named(std::string_view path) {
  return found(
      std::ranges::find_if(kPackers, [&](const Packer& each) { return path.ends_with(each.ending); }));
}

std::string_view without_packing(std::string_view path) {
  const auto compression = compression_named(path);
  return compression ? path.substr(0, path.size() - packer_of(*compression).ending.size()) : path;
}

std::string unpack(std::string_view bytes, Compression compression, const std::string& where,
                   size_t max_bytes) {
  const Packer& packer = packer_of(compression);
  if (!packer.begins(bytes))
    throw bad_input({.where = where, .what = fmt::format("not a {} file", packer.name)});
  Unpacking unpacking(packer, where, max_bytes);
  std::string text;
  while (packer.begins(bytes)) unpacking.member(bytes, text);
  // Some tools pad with zeros behind the last member.
  if (bytes.find_first_not_of('\0') != std::string_view::npos) throw unpacking.told("is damaged");
  return text;
}

}  // namespace sluice
