// A tokenizer.json from a stranger, and a text for it: refused or used, never a crash.
// The input is the file, a zero byte, and the text.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "sluice/base/error.h"
#include "sluice/text/streaming_decoder.h"
#include "sluice/text/tokenizer.h"
#include "sluice/text/utf8.h"

namespace {

void check(bool condition) {
  if (!condition) __builtin_trap();
}

// Whatever the file says, these hold.
void use(const sluice::Tokenizer& tokenizer, std::string_view text) {
  const std::vector<sluice::TokenId> ids = tokenizer.encode(text);
  sluice::StreamingDecoder decoder(tokenizer);
  std::string streamed;
  for (const sluice::TokenId id : ids) {
    check(id >= 0 && id < tokenizer.size());
    const std::string part = decoder.push(id);
    check(sluice::well_formed_length(part) == part.size());
    streamed += part;
  }
  streamed += decoder.finish();
  check(streamed == sluice::with_ill_formed_replaced(tokenizer.decode(ids)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = input.find('\0');
  const std::string_view text = end == std::string_view::npos ? "" : input.substr(end + 1);
  static const sluice::Tokenizer bytes = sluice::Tokenizer::bytes();
  check(bytes.decode(bytes.encode(text)) == text);
  try {
    use(sluice::Tokenizer::read(sluice::Json::parse(input.substr(0, end), "fuzz")), text);
  } catch (const sluice::Error&) {
  }
  return 0;
}
