#include <bzlib.h>

#include <algorithm>

#include "sluice/base/error.h"
#include "sluice/data/decompressor.h"

namespace sluice {
namespace {

// Takes 4 MB at most, whatever the file says.
class Bzip2Decompressor : public Decompressor {
 public:
  Bzip2Decompressor() { begin(); }
  Bzip2Decompressor(const Bzip2Decompressor&) = delete;
  Bzip2Decompressor& operator=(const Bzip2Decompressor&) = delete;
  ~Bzip2Decompressor() override { BZ2_bzDecompressEnd(&stream_); }

  Status step(std::string_view& packed, std::span<char>& out) override {
    constexpr size_t kMost = size_t{1} << 30;  // its counters have 32 bits
    const size_t given = std::min(packed.size(), kMost), room = std::min(out.size(), kMost);
    stream_.next_in = const_cast<char*>(packed.data());
    stream_.avail_in = static_cast<unsigned>(given);
    stream_.next_out = out.data();
    stream_.avail_out = static_cast<unsigned>(room);
    const int status = BZ2_bzDecompress(&stream_);
    packed.remove_prefix(given - stream_.avail_in);
    out = out.subspan(room - stream_.avail_out);
    if (status == BZ_STREAM_END) {
      BZ2_bzDecompressEnd(&stream_);
      begin();
      return Status::End;
    }
    return status == BZ_OK ? Status::More : Status::Damaged;
  }

 private:
  void begin() {
    stream_ = {};
    if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw failure({.what = "cannot start bzip2"});
  }

  bz_stream stream_ = {};
};

}  // namespace

std::unique_ptr<Decompressor> make_bzip2_decompressor() {
  return std::make_unique<Bzip2Decompressor>();
}

}  // namespace sluice
