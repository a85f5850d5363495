// What training reads: token shards, or texts that become shards on the way.
#pragma once

#include <optional>
#include <string>

#include "sluice/base/job_control.h"
#include "sluice/data/token_shard.h"
#include "sluice/text/tokenizer.h"

namespace sluice {

struct TextOpening {
  std::optional<Tokenizer> tokenizer = {};  // of texts; none: they are refused
  const Threads& threads;
};

// A token shard, every byte checked. Or a text (data/text_reader.h), tokenized as `sluice data tokenize`
// does, into a file that loses its name at once: the same text and tokenizer give the same shard. What is
// called .tokens is never taken for text.
TokenShard open_text(const std::string& path, const TextOpening& opening, const JobControl& control = {});

}  // namespace sluice
