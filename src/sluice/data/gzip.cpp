#include <zlib.h>

#include <algorithm>

#include "sluice/base/error.h"
#include "sluice/data/decompressor.h"

namespace sluice {
namespace {

class GzipDecompressor : public Decompressor {
 public:
  GzipDecompressor() {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, kGzipOnly + MAX_WBITS) != Z_OK) throw failure({.what = "cannot start zlib"});
  }
  GzipDecompressor(const GzipDecompressor&) = delete;
  GzipDecompressor& operator=(const GzipDecompressor&) = delete;
  ~GzipDecompressor() override { inflateEnd(&stream_); }

  Status step(std::string_view& packed, std::span<char>& out) override {
    constexpr size_t kMost = size_t{1} << 30;  // the counters of zlib have 32 bits
    const size_t given = std::min(packed.size(), kMost), room = std::min(out.size(), kMost);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream_.avail_in = static_cast<uInt>(given);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    packed.remove_prefix(given - stream_.avail_in);
    out = out.subspan(room - stream_.avail_out);
    if (status == Z_STREAM_END) {
      inflateReset(&stream_);
      return Status::End;
    }
    return status == Z_OK || status == Z_BUF_ERROR ? Status::More : Status::Damaged;
  }

 private:
  z_stream stream_ = {};
};

}  // namespace

std::unique_ptr<Decompressor> make_gzip_decompressor() {
  return std::make_unique<GzipDecompressor>();
}

}  // namespace sluice
