#include <zstd.h>
#include <zstd_errors.h>

#include <bit>

#include "sluice/base/error.h"
#include "sluice/data/decompressor.h"

namespace sluice {
namespace {

class ZstdDecompressor : public Decompressor {
 public:
  ZstdDecompressor() : stream_(ZSTD_createDStream()) {
    constexpr int kWindow = std::bit_width(kUnpackingMemory) - 1;
    if (stream_ == nullptr || ZSTD_isError(ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kWindow)))
      throw failure({.what = "cannot start zstd"});
  }
  ZstdDecompressor(const ZstdDecompressor&) = delete;
  ZstdDecompressor& operator=(const ZstdDecompressor&) = delete;
  ~ZstdDecompressor() override { ZSTD_freeDStream(stream_); }

  Status step(std::string_view& packed, std::span<char>& out) override {
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    ZSTD_outBuffer unpacked{out.data(), out.size(), 0};
    const size_t left = ZSTD_decompressStream(stream_, &unpacked, &in);
    packed.remove_prefix(in.pos);
    out = out.subspan(unpacked.pos);
    if (left == 0) return Status::End;
    if (!ZSTD_isError(left)) return Status::More;
    return ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge ? Status::TooMuchMemory
                                                                               : Status::Damaged;
  }

 private:
  ZSTD_DStream* stream_;
};

}  // namespace

std::unique_ptr<Decompressor> make_zstd_decompressor() {
  return std::make_unique<ZstdDecompressor>();
}

}  // namespace sluice
