#include "sluice/text/bpe_trainer.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <queue>
#include <unordered_map>

#include "sluice/base/assert.h"
#include "sluice/text/byte_alphabet.h"

namespace sluice {
namespace {

using TokenPair = std::pair<TokenId, TokenId>;

// A word of the text as its tokens so far.
struct TrainingWord {
  std::vector<TokenId> tokens;
  std::int64_t count = 0;
};

// A pair became more or less frequent in a word.
struct PairChange {
  TokenPair pair;
  std::int64_t count;
  std::uint32_t word;
};

struct Joining {
  std::uint32_t word;  // its number
  TokenPair pair;
  TokenId token;
};

// Puts the token in the place of the pair, from left to right, and notes what became of its neighbours.
void join(TrainingWord& word, const Joining& joining, std::vector<PairChange>& changes) {
  const TokenPair pair = joining.pair;
  const TokenId token = joining.token;
  std::vector<TokenId>& tokens = word.tokens;
  const auto change = [&](TokenId left, TokenId right, std::int64_t sign) {
    changes.push_back({{left, right}, sign * word.count, joining.word});
  };
  std::size_t kept = 0;
  for (std::size_t i = 0; i < tokens.size();) {
    const bool is_pair = i + 1 < tokens.size() && TokenPair{tokens[i], tokens[i + 1]} == pair;
    if (!is_pair) {
      tokens[kept++] = tokens[i++];
      continue;
    }
    change(pair.first, pair.second, -1);
    if (kept > 0) {
      change(tokens[kept - 1], pair.first, -1);
      change(tokens[kept - 1], token, +1);
    }
    if (i + 2 < tokens.size()) {
      change(pair.second, tokens[i + 2], -1);
      change(token, tokens[i + 2], +1);
    }
    // Counts are of what stands there now: a second pair right behind finds this token on its left.
    tokens[kept++] = token;
    i += 2;
  }
  tokens.resize(kept);
}

struct PairHash {
  std::size_t operator()(const TokenPair& pair) const {
    const auto key =
        std::uint64_t{static_cast<std::uint32_t>(pair.first)} << 32 | static_cast<std::uint32_t>(pair.second);
    const std::uint64_t product = key * 0x9E3779B97F4A7C15U;
    return product ^ product >> 32;
  }
};

struct Occurrences {
  std::int64_t count = 0;
  std::vector<std::uint32_t> words;  // all that have it, and some that had it
};

struct Candidate {
  std::int64_t count;
  TokenPair pair;
  bool operator<(const Candidate& other) const {  // the top of the queue is the largest
    return count != other.count ? count < other.count : pair > other.pair;
  }
};

class Trainer {
 public:
  Trainer(std::span<const WordCount> words, const BpeTraining& training, const Threads& threads,
          const JobControl& control)
      : training_(training), threads_(threads), control_(control) {
    const std::array<TokenId, 256> ids = add_single_bytes();
    for (const WordCount& each : words) {
      TrainingWord word{.tokens = {}, .count = each.count};
      for (const char byte : each.word) word.tokens.push_back(ids[static_cast<unsigned char>(byte)]);
      words_.push_back(std::move(word));
    }
    count_pairs();
  }

  TrainedBpe run() {
    while (!queue_.empty() && static_cast<std::int64_t>(result_.tokens.size()) < training_.tokens) {
      control_.stop_if_cancelled();
      const Candidate best = queue_.top();
      queue_.pop();
      const auto found = pairs_.find(best.pair);
      if (found == pairs_.end()) continue;
      if (found->second.count == best.count) {
        merge(best.pair);
      } else {
        enqueue(best.pair, found->second.count);  // became rarer while it waited
      }
    }
    return std::move(result_);
  }

 private:
  std::array<TokenId, 256> add_single_bytes() {
    std::array<int, 256> bytes{};
    std::iota(bytes.begin(), bytes.end(), 0);
    const auto text = [](int byte) { return std::string(1, static_cast<char>(byte)); };
    // UTF-8 sorts like the characters themselves.
    std::ranges::sort(bytes, {}, [&](int byte) { return spelled(text(byte)); });
    std::array<TokenId, 256> ids{};
    for (const int byte : bytes) ids[static_cast<std::size_t>(byte)] = token_of(text(byte));
    return ids;
  }

  // Two pairs may join to the same bytes; they are one token then.
  TokenId token_of(const std::string& bytes) {
    const auto [place, is_new] = ids_.emplace(bytes, static_cast<TokenId>(result_.tokens.size()));
    if (is_new) result_.tokens.push_back(bytes);
    return place->second;
  }

  void enqueue(TokenPair pair, std::int64_t count) {
    if (count >= std::max<std::int64_t>(training_.min_count, 1)) queue_.push({count, pair});
  }

  void apply(const PairChange& change) {
    Occurrences& pair = pairs_[change.pair];
    pair.count += change.count;
    if (change.count <= 0 || (!pair.words.empty() && pair.words.back() == change.word)) return;
    pair.words.push_back(change.word);
  }

  void count_pairs() {
    for (std::uint32_t index = 0; index < words_.size(); ++index) {
      const std::vector<TokenId>& tokens = words_[index].tokens;
      for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
        apply({{tokens[i], tokens[i + 1]}, words_[index].count, index});
      }
    }
    for (const auto& [pair, occurrences] : pairs_) enqueue(pair, occurrences.count);
  }

  void merge(TokenPair pair) {
    const auto at = [&](TokenId id) { return result_.tokens[static_cast<std::size_t>(id)]; };
    const TokenId token = token_of(at(pair.first) + at(pair.second));
    // A pair comes back if one of its tokens is made in a second way; its merge is there already.
    if (merged_.emplace(pair, token).second) result_.merges.push_back(pair);
    std::vector<TokenPair> grown;
    for (const std::vector<PairChange>& part : replace_in_words(pair, token)) {
      for (const PairChange& change : part) {
        apply(change);
        if (change.count > 0) grown.push_back(change.pair);
      }
    }
    pairs_.erase(pair);
    std::ranges::sort(grown);
    grown.erase(std::unique(grown.begin(), grown.end()), grown.end());
    for (const TokenPair& each : grown) {
      if (const auto found = pairs_.find(each); found != pairs_.end()) enqueue(each, found->second.count);
    }
  }

  // Words are changed by several threads, the counts afterwards by one: in the order of the words.
  std::vector<std::vector<PairChange>> replace_in_words(TokenPair pair, TokenId token) {
    constexpr std::int64_t kWordsPerThread = 4096;  // below, a thread costs more than it saves
    std::vector<std::uint32_t> places = std::move(pairs_[pair].words);
    std::ranges::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    const auto count = static_cast<std::int64_t>(places.size());
    std::vector<std::vector<PairChange>> parts(static_cast<std::size_t>(threads_.count()));
    const std::int64_t grain =
        std::max<std::int64_t>(kWordsPerThread, (count + threads_.count() - 1) / threads_.count());
    threads_.each((count + grain - 1) / grain, [&](std::int64_t part) {
      for (std::int64_t i = part * grain; i < std::min(count, (part + 1) * grain); ++i) {
        const std::uint32_t index = places[static_cast<std::size_t>(i)];
        join(words_[index], {index, pair, token}, parts[static_cast<std::size_t>(part)]);
      }
    });
    return parts;
  }

  BpeTraining training_;
  const Threads& threads_;
  const JobControl& control_;
  std::vector<TrainingWord> words_;
  std::unordered_map<TokenPair, Occurrences, PairHash> pairs_;
  std::priority_queue<Candidate> queue_;
  std::unordered_map<std::string, TokenId> ids_;
  std::unordered_map<TokenPair, TokenId, PairHash> merged_;
  TrainedBpe result_;
};

}  // namespace

TrainedBpe train_bpe(std::span<const WordCount> words, const BpeTraining& training, const Threads& threads,
                     const JobControl& control) {
  SLUICE_ASSERT(training.tokens >= 256, "train_bpe: {} tokens are fewer than bytes", training.tokens);
  return Trainer(words, training, threads, control).run();
}

}  // namespace sluice
