#include "sluice/data/binary_content.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "sluice/base/error.h"
#include "sluice/text/utf8.h"

namespace sluice {
namespace {

using namespace std::string_view_literals;

struct KnownKind {
  std::string_view name;
  size_t offset;
  std::string_view magic;
};

constexpr KnownKind kKnownKinds[] = {
    {"a token shard", 0, "SLUICTOK"sv},
    {"a zip archive", 0, "PK\x03\x04"sv},  // .pt, .npz and .docx, too
    {"a PNG image", 0, "\x89PNG\r\n"sv},
    {"a JPEG image", 0, "\xff\xd8\xff"sv},
    {"a GIF image", 0, "GIF89a"sv},
    {"a PDF document", 0, "%PDF-"sv},
    {"a program", 0,
     "\x7f"
     "ELF"sv},
    {"a Parquet file", 0, "PAR1"sv},
    {"an Arrow file", 0, "ARROW1\0"sv},
    {"a GGUF model", 0, "GGUF"sv},
    {"a NumPy array", 0, "\x93NUMPY"sv},
    {"an HDF5 file", 0, "\x89HDF\r\n"sv},
    {"a SQLite database", 0, "SQLite format 3\0"sv},
    {"a 7-Zip archive", 0, "7z\xbc\xaf\x27\x1c"sv},
    {"a RAR archive", 0, "Rar!\x1a"sv},
    {"packed with lz4", 0, "\x04\x22\x4d\x18"sv},
    {"a pickle", 0, "\x80\x02"sv},
    {"a pickle", 0, "\x80\x04"sv},
    {"a tar archive", 257, "ustar"sv},
    {"text in UTF-16", 0, "\xff\xfe"sv},
    {"text in UTF-16", 0, "\xfe\xff"sv},
};

// The size of the header, then a header in JSON that begins at once.
bool is_safetensors(std::string_view content) {
  uint64_t header = 0;
  if (content.size() < 16) return false;
  std::memcpy(&header, content.data(), sizeof header);
  return header < (uint64_t{1} << 32) && content[8] == '{';
}

// A text may begin with "GIF89a" or "GGUF", but not with "%PDF-" or with bytes that no text has.
bool may_begin_a_text(std::string_view magic) {
  return magic != "%PDF-" && std::ranges::all_of(magic, [](char byte) { return byte >= ' ' && byte <= '~'; });
}

std::optional<std::string_view> known_kind(std::string_view content, bool is_text) {
  if (is_safetensors(content)) return "a safetensors file";
  const auto* found = std::ranges::find_if(kKnownKinds, [&](const KnownKind& kind) {
    return content.size() >= kind.offset && content.substr(kind.offset).starts_with(kind.magic) &&
           !(is_text && may_begin_a_text(kind.magic));
  });
  return found == std::end(kKnownKinds) ? std::nullopt : std::optional(found->name);
}

size_t ill_formed_bytes(std::string_view text) {
  size_t count = 0;
  while (!text.empty()) {
    text.remove_prefix(well_formed_length(text));
    if (text.empty()) break;
    const Utf8Front front = utf8_front(text);
    if (front.form == Utf8Form::IllFormed) count += front.length;  // cut off it is where the sample ends
    text.remove_prefix(front.length);
  }
  return count;
}

// Latin-1 has some percent of bytes that are not UTF-8 in most languages that use it, other bytes have most.
bool is_mostly_utf8(std::string_view sample) {
  constexpr size_t kTooShortToTell = 64;
  return sample.size() < kTooShortToTell || ill_formed_bytes(sample) * 5 < sample.size();
}

Error refusal(const std::string& where, std::string_view like, const char* hint = "") {
  return bad_input({.where = where, .what = fmt::format("not text: it looks like {}", like), .hint = hint});
}

constexpr const char* kRecode = "iconv -t UTF-8 turns other encodings into what is read here";

}  // namespace

void refuse_binary(std::string_view content, const std::string& where) {
  constexpr size_t kSample = size_t{1} << 16;
  const std::string_view sample = content.substr(0, kSample);
  const bool has_nul = sample.find('\0') != std::string_view::npos;
  const bool is_text = !has_nul && is_mostly_utf8(sample);
  if (const auto kind = known_kind(content, is_text))
    throw refusal(where, *kind, kind->starts_with("text") ? kRecode : "");
  if (is_text) return;
  if (has_nul) throw refusal(where, "binary data, with NUL bytes");
  throw refusal(where, "binary data, or text that is not UTF-8", kRecode);
}

}  // namespace sluice
