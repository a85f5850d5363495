#include "sluice/data/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "sluice/base/error.h"

namespace sluice {
namespace {

class Inflater {
 public:
  explicit Inflater(const std::string& where) : where_(where) {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, kGzipOnly + MAX_WBITS) != Z_OK)
      throw failure({.where = where, .what = "cannot start zlib"});
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  // One member from the front of `bytes`, which is moved behind it, added to `text`.
  void unpack_member(std::string_view& bytes, std::string& text, size_t max_bytes) {
    int status = Z_OK;
    while (status != Z_STREAM_END) {
      const size_t given = std::min(bytes.size(), kStep);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream_.avail_in = static_cast<uInt>(given);
      const size_t filled = text.size();
      text.resize(filled + kStep);
      stream_.next_out = reinterpret_cast<Bytef*>(text.data() + filled);
      stream_.avail_out = static_cast<uInt>(kStep);
      status = inflate(&stream_, Z_NO_FLUSH);
      bytes.remove_prefix(given - stream_.avail_in);
      text.resize(filled + kStep - stream_.avail_out);
      check(status, text.size(), max_bytes);
    }
    inflateReset(&stream_);
  }

 private:
  static constexpr size_t kStep = size_t{1} << 20;  // the counters of zlib have 32 bits

  void check(int status, size_t size, size_t max_bytes) const {
    if (status == Z_BUF_ERROR) throw bad_input({.where = where_, .what = "the gzip file is cut off"});
    if (status != Z_OK && status != Z_STREAM_END)
      throw bad_input({.where = where_, .what = "the gzip file is damaged"});
    if (size > max_bytes) {
      throw bad_input({.where = where_,
                       .what = "too large when unpacked",
                       .expected = fmt::format("at most {} bytes", max_bytes)});
    }
  }

  const std::string& where_;
  z_stream stream_ = {};
};

}  // namespace

bool is_gzip(std::string_view bytes) {
  return bytes.starts_with("\x1f\x8b");
}

std::string gunzip(std::string_view bytes, const std::string& where, size_t max_bytes) {
  if (!is_gzip(bytes)) throw bad_input({.where = where, .what = "not a gzip file"});
  Inflater inflater(where);
  std::string text;
  // Some tools pad with zeros behind the last member.
  while (is_gzip(bytes)) inflater.unpack_member(bytes, text, max_bytes);
  if (bytes.find_first_not_of('\0') != std::string_view::npos)
    throw bad_input({.where = where, .what = "the gzip file is damaged"});
  return text;
}

}  // namespace sluice
