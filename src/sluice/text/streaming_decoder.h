// Text from tokens as they come, for a terminal or a socket.
#pragma once

#include <string>

#include "sluice/text/tokenizer.h"

namespace sluice {

// What push() and finish() return is well-formed UTF-8 each time: the beginning of a character waits for its
// rest, and bytes that belong to none become U+FFFD.
class StreamingDecoder {
 public:
  explicit StreamingDecoder(Tokenizer tokenizer, SpecialTokens special = SpecialTokens::Keep)
      : tokenizer_(std::move(tokenizer)), special_(special) {}

  std::string push(TokenId id);

  // What still waits. After it the decoder is as new.
  std::string finish();

 private:
  Tokenizer tokenizer_;
  SpecialTokens special_;
  std::string waiting_;  // at most 3 bytes between calls
};

}  // namespace sluice
