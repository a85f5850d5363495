// Text files into a token shard.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/base/threads.h"
#include "sluice/data/token_shard.h"
#include "sluice/text/text_format.h"
#include "sluice/text/tokenizer.h"

namespace sluice {

inline constexpr const char* kEndOfText = "<|endoftext|>";

// Whether a special token of this name ends texts: that one or one of its relatives.
bool ends_text(std::string_view special);

// The token that ends documents where a tokenizer's file does not say which: <|endoftext|> or one of its
// relatives, else the token of the byte 0, which texts do not have.
TokenId end_of_text_of(const Tokenizer& tokenizer);

struct TokenizeRequest {
  std::vector<std::string> files;         // as data/text_reader.h takes them
  std::optional<TextFormat> format = {};  // of all of them; none: as their names say
  std::filesystem::path out;
  TokenId end_of_text = 0;
  // Documents are joined and cut again, each piece of so many tokens with the end-of-text token first and
  // last: sequences of that length all begin with it. The last piece is filled up with that token. None:
  // documents stay as they are.
  std::optional<int64_t> piece_tokens = {};
};

inline constexpr int64_t kFewestPieceTokens = 3;  // one between its ends

// Documents keep the order of the files; those without any text are left out. Each document is encoded by one
// thread on its own, so the shard is the same for any number of threads. Bad input if there is no text at
// all.
TokenShardInfo tokenize_files(const Tokenizer& tokenizer, const TokenizeRequest& request,
                              const Threads& threads, const JobControl& control = {});

}  // namespace sluice
