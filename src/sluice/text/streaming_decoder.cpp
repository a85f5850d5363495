#include "sluice/text/streaming_decoder.h"

#include <utility>

#include "sluice/text/utf8.h"

namespace sluice {
namespace {

// Bytes at the end that may be the beginning of a character.
std::size_t unfinished_length(std::string_view text) {
  constexpr std::size_t kLongest = 3;
  for (std::size_t length = std::min(kLongest, text.size()); length > 0; --length) {
    const Utf8Front front = utf8_front(text.substr(text.size() - length));
    if (front.form == Utf8Form::CutOff && front.length == length) return length;
  }
  return 0;
}

}  // namespace

std::string StreamingDecoder::push(TokenId id) {
  waiting_ += tokenizer_.decode(std::span(&id, 1), special_);
  const std::size_t ready = waiting_.size() - unfinished_length(waiting_);
  std::string text = with_ill_formed_replaced(std::string_view(waiting_).substr(0, ready));
  waiting_.erase(0, ready);
  return text;
}

std::string StreamingDecoder::finish() {
  return with_ill_formed_replaced(std::exchange(waiting_, {}));
}

}  // namespace sluice
