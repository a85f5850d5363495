// Text files into a tokenizer.json.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/base/threads.h"
#include "sluice/text/text_format.h"
#include "sluice/text/tokenizer_parts.h"

namespace sluice {

struct TokenizerTraining {
  std::vector<std::string> files;         // as data/text_reader.h takes them
  std::optional<TextFormat> format = {};  // of all of them; none: as their names say
  std::filesystem::path out;
  int64_t vocabulary = 0;  // tokens, the 256 bytes and the special ones included
  WordPattern pattern = WordPattern::Qwen;
  std::vector<std::string> special = {};
  // <|endoftext|> before the other special tokens, unless one of them ends texts already (data/tokenize.h).
  bool end_of_text = true;
};

struct TrainedTokenizer {
  std::filesystem::path path;
  int64_t vocabulary = 0;  // fewer than asked for if no other pair of tokens occurs twice
  int64_t merges = 0;
  int64_t words = 0;  // different ones
};

// The same for any number of threads. Usage error if the vocabulary has no room for bytes and special tokens,
// or if those are not different texts; bad input if there is no text in the files.
TrainedTokenizer train_tokenizer(const TokenizerTraining& training, const Threads& threads,
                                 const JobControl& control = {});

nlohmann::ordered_json to_json(const TrainedTokenizer& trained);
std::string to_text(const TrainedTokenizer& trained);

}  // namespace sluice
