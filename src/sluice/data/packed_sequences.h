// Token shards as sequences of one length. What belongs to a split stands one after the other; sequence i is
// the T + 1 tokens from i·T on, so that every token but the very first is a target once. What is left at the
// end, less than T tokens, is left out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sluice/data/token_shard.h"

namespace sluice {

enum class Split { Training, Validation };

// How text is set aside for validation.
enum class SplitRule {
  Documents,  // whole ones, drawn by the seed
  Position,   // the end of the text; a sequence between it and the training text belongs to neither
  Auto        // Documents if that leaves a sequence to each split, else Position: one long text has no others
};

struct SplitOptions {
  double validation_share = 0;  // of the documents or of the tokens, in [0, 1]
  uint64_t seed = 0;            // of Documents alone
  SplitRule rule = SplitRule::Documents;
};

// Documents or Position: what Auto means for these shards and sequences of `length` tokens.
SplitRule settled_rule(std::span<const TokenShard> shards, int64_t length, const SplitOptions& options);

// By documents. A document's split depends on its place among all documents and on the seed alone, not on how
// many there are: documents that are added later move no other.
Split split_of(int64_t document, const SplitOptions& options);

// What a model is given: row s holds sequence s, and a target is the token behind its input.
struct Batch {
  int64_t sequences = 0;         // B
  int64_t length = 0;            // T
  std::vector<TokenId> inputs;   // [B, T]
  std::vector<TokenId> targets;  // [B, T]
};

class PackedSequences {
 public:
  struct Options {
    int64_t length = 0;  // T
    Split split = Split::Training;
    SplitOptions kept_out = {};
  };

  // Bad input if the split has less than one sequence, or if the shards differ in vocabulary or tokenizer.
  PackedSequences(std::vector<TokenShard> shards, const Options& options);

  int64_t count() const { return (tokens_ - 1) / length_; }
  int64_t length() const { return length_; }
  const std::vector<TokenShard>& shards() const { return shards_; }
  int64_t tokens() const { return tokens_; }        // of the split, those left out included
  int64_t documents() const { return documents_; }  // of the split, also those of which it has a part
  int64_t vocabulary() const { return shards_.front().info().vocabulary; }

  // The T + 1 tokens of a sequence.
  void read(int64_t sequence, std::span<TokenId> out) const;

  // These sequences, in this order.
  Batch batch(std::span<const int64_t> sequences) const;

  // Neighbours, for reading from front to back.
  Batch batch(Range sequences) const;

 private:
  // Tokens of the split that are neighbours in a shard, too.
  struct Run {
    int64_t begin;  // place of its first token among the tokens of the split
    size_t shard;
    int64_t token;  // place of the same token in the shard
  };

  void add_documents(const Options& options);
  void add_block(const Options& options);
  void add(size_t shard, Range tokens);
  void check(const Options& options, SplitRule rule) const;

  std::vector<TokenShard> shards_;
  std::vector<Run> runs_;
  int64_t length_;
  int64_t tokens_ = 0;
  int64_t documents_ = 0;
};

}  // namespace sluice
