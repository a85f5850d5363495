#include <lzma.h>

#include "sluice/base/error.h"
#include "sluice/data/decompressor.h"

namespace sluice {
namespace {

class XzDecompressor : public Decompressor {
 public:
  XzDecompressor() { begin(); }
  XzDecompressor(const XzDecompressor&) = delete;
  XzDecompressor& operator=(const XzDecompressor&) = delete;
  ~XzDecompressor() override { lzma_end(&stream_); }

  Status step(std::string_view& packed, std::span<char>& out) override {
    const size_t given = packed.size(), room = out.size();
    stream_.next_in = reinterpret_cast<const uint8_t*>(packed.data());
    stream_.avail_in = given;
    stream_.next_out = reinterpret_cast<uint8_t*>(out.data());
    stream_.avail_out = room;
    const lzma_ret status = lzma_code(&stream_, LZMA_RUN);
    packed.remove_prefix(given - stream_.avail_in);
    out = out.subspan(room - stream_.avail_out);
    if (status == LZMA_STREAM_END) {
      begin();
      return Status::End;
    }
    if (status == LZMA_MEMLIMIT_ERROR) return Status::TooMuchMemory;
    return status == LZMA_OK || status == LZMA_BUF_ERROR ? Status::More : Status::Damaged;
  }

 private:
  void begin() {
    if (lzma_stream_decoder(&stream_, kUnpackingMemory, 0) != LZMA_OK)
      throw failure({.what = "cannot start xz"});
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
};

}  // namespace

std::unique_ptr<Decompressor> make_xz_decompressor() {
  return std::make_unique<XzDecompressor>();
}

}  // namespace sluice
