// Learns byte-pair merges from word counts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/base/threads.h"
#include "sluice/text/vocabulary.h"
#include "sluice/text/word_counter.h"

namespace sluice {

struct TrainedBpe {
  std::vector<std::string> tokens;                  // bytes by id: 256 single ones, then one per new token
  std::vector<std::pair<TokenId, TokenId>> merges;  // in the order in which they are applied
};

struct BpeTraining {
  std::int64_t tokens = 0;     // to learn, the 256 single bytes included
  std::int64_t min_count = 2;  // a pair that is seen less often is not merged
};

// Merges the most frequent pair until there are enough tokens or no pair is frequent enough. Of pairs equally
// frequent it takes that of the smaller ids, the left one first. The result is the same for any number of
// threads and any order of the words.
//
// Single bytes are numbered as in GPT-2: by the characters that spell them.
TrainedBpe train_bpe(std::span<const WordCount> words, const BpeTraining& training, const Threads& threads,
                     const JobControl& control = {});

}  // namespace sluice
