#include "sluice/text/nfc.h"

#include <utf8proc.h>

#include <algorithm>
#include <vector>

#include "sluice/base/assert.h"
#include "sluice/text/utf8.h"

namespace sluice {
namespace {

// All characters below U+0300 are starters, are in form C, and never join what stands before them. They
// begin with bytes below this one; so do the continuation bytes of all characters.
constexpr unsigned char kFirstByteOf300 = 0xCC;

bool may_change(char byte) {
  return static_cast<unsigned char>(byte) >= kFirstByteOf300;
}

bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

using CodePoints = std::vector<utf8proc_int32_t>;

CodePoints decomposed(std::string_view text) {
  constexpr auto kOptions = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
  CodePoints out;
  while (!text.empty()) {
    const Utf8Character c = first_character(text);
    text.remove_prefix(c.length);
    utf8proc_int32_t parts[8];  // canonical decompositions have at most 4
    int boundary = 0;
    const auto count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c.value), parts, 8, kOptions, &boundary);
    SLUICE_ASSERT(count >= 0 && count <= 8, "nfc: U+{:04X} does not decompose", unsigned{c.value});
    out.insert(out.end(), parts, parts + count);
  }
  return out;
}

int combining_class(utf8proc_int32_t c) {
  return utf8proc_get_property(c)->combining_class;
}

// utf8proc's own ordering takes quadratic time for a long run of marks, which a hostile text may have.
void order_marks(CodePoints& text) {
  const auto is_mark = [](auto c) { return combining_class(c) != 0; };
  for (auto begin = text.begin(); begin != text.end();) {
    begin = std::find_if(begin, text.end(), is_mark);
    const auto end = std::find_if_not(begin, text.end(), is_mark);
    std::stable_sort(begin, end, [](auto a, auto b) { return combining_class(a) < combining_class(b); });
    begin = end;
  }
}

void append_composed(std::string_view text, std::string& out) {
  constexpr auto kOptions = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  CodePoints points = decomposed(text);
  order_marks(points);
  const auto count =
      utf8proc_normalize_utf32(points.data(), static_cast<utf8proc_ssize_t>(points.size()), kOptions);
  SLUICE_ASSERT(count >= 0, "nfc: {}", utf8proc_errmsg(count));
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    append_utf8(static_cast<char32_t>(points[static_cast<std::size_t>(i)]), out);
  }
}

}  // namespace

bool is_surely_nfc(std::string_view text) {
  return std::none_of(text.begin(), text.end(), may_change);
}

std::string to_nfc(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto found = std::find_if(text.begin(), text.end(), may_change);
    // The character before it may be what a mark joins.
    auto begin = found;
    if (found != text.end() && begin != text.begin()) {
      do --begin;
      while (continues(*begin));
    }
    out.append(text.begin(), begin);
    auto end = found;
    while (end != text.end() && (may_change(*end) || continues(*end))) ++end;
    if (begin != end) append_composed({begin, end}, out);
    text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  }
  return out;
}

}  // namespace sluice
