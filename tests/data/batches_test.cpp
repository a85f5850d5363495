#include "sluice/data/batches.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "tests/base/expect_error.h"
#include "tests/data/shard_file.h"

namespace sluice {
namespace {

constexpr int64_t kVocabulary = 1 << 20;
constexpr TokenId kEnd = kVocabulary - 1;

// Shards in which every token but the ends is there once, so that a test sees where a token comes from.
class Corpus {
 public:
  TokenShard add(const std::vector<size_t>& lengths) {
    Documents documents;
    for (const size_t length : lengths) {
      std::vector<TokenId> ids(length);
      std::iota(ids.begin(), ids.end(), next_);
      next_ += static_cast<TokenId>(length);
      for (const TokenId id : ids) document_[id] = documents_;
      ++documents_;
      documents.push_back(ids);
    }
    const auto path = directory_.path() / std::to_string(next_);
    write_shard(path, documents, {.vocabulary = kVocabulary, .end_of_text = kEnd});
    return TokenShard(path);
  }

  int64_t document_of(TokenId id) const { return document_.at(id); }
  int64_t documents() const { return documents_; }
  TokenId tokens() const { return next_; }

 private:
  TemporaryDirectory directory_;
  std::map<TokenId, int64_t> document_;
  int64_t documents_ = 0;
  TokenId next_ = 0;
};

std::vector<size_t> lengths(size_t documents) {
  std::vector<size_t> lengths;
  for (size_t i = 0; i < documents; ++i) lengths.push_back(1 + i * 7 % 23);
  return lengths;
}

class Batches : public testing::Test {
 protected:
  PackedSequences packed(Split split, double share, int64_t length = 8) {
    return PackedSequences(
        shards_, {.length = length, .split = split, .kept_out = {.validation_share = share, .seed = 3}});
  }

  Corpus corpus_;
  std::vector<TokenShard> shards_ = {corpus_.add(lengths(40)), corpus_.add(lengths(1)),
                                     corpus_.add(lengths(60))};
};

TEST_F(Batches, hold_inputs_and_the_tokens_behind_them) {
  const PackedSequences sequences = packed(Split::Training, 0);
  const Batch batch = sequences.batch(Range{1, 3});
  ASSERT_EQ(batch.sequences, 2);
  ASSERT_EQ(batch.length, 8);
  ASSERT_EQ(batch.inputs.size(), 16U);
  std::vector<TokenId> tokens(9);
  for (int64_t s = 0; s < 2; ++s) {
    sequences.read(1 + s, tokens);
    const auto row = static_cast<size_t>(s * 8);
    EXPECT_EQ(std::vector<TokenId>(&batch.inputs[row], &batch.inputs[row] + 8),
              std::vector<TokenId>(tokens.begin(), tokens.end() - 1));
    EXPECT_EQ(std::vector<TokenId>(&batch.targets[row], &batch.targets[row] + 8),
              std::vector<TokenId>(tokens.begin() + 1, tokens.end()));
  }
}

TEST_F(Batches, put_the_documents_of_all_shards_one_after_the_other) {
  const PackedSequences sequences = packed(Split::Training, 0);
  std::vector<TokenId> expected;
  for (const TokenShard& shard : shards_)
    for (const auto& document : documents_of(shard))
      expected.insert(expected.end(), document.begin(), document.end());
  EXPECT_EQ(sequences.tokens(), static_cast<int64_t>(expected.size()));
  EXPECT_EQ(sequences.documents(), 101);
  EXPECT_EQ(sequences.vocabulary(), kVocabulary);
  ASSERT_EQ(sequences.count(), (sequences.tokens() - 1) / 8);
  const Batch all = sequences.batch(Range{0, sequences.count()});
  const auto size = static_cast<std::ptrdiff_t>(all.inputs.size());
  EXPECT_EQ(all.inputs, std::vector<TokenId>(expected.begin(), expected.begin() + size));
  EXPECT_EQ(all.targets, std::vector<TokenId>(expected.begin() + 1, expected.begin() + size + 1));
}

TEST_F(Batches, show_every_token_of_the_training_split_once_per_epoch) {
  BatchLoader loader(packed(Split::Training, 0.2, 5), {.batch = 3, .seed = 9});
  const PackedSequences& sequences = loader.sequences();
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    std::map<TokenId, int> seen;
    for (int64_t index = 0; index < sequences.count(); ++index) {
      const int64_t sequence = loader.sequence_at({.epoch = epoch, .index = index});
      for (const TokenId id : sequences.batch(Range{sequence, sequence + 1}).targets) ++seen[id];
    }
    for (const auto& [id, times] : seen) {
      EXPECT_TRUE(times == 1 || id == kEnd) << "token " << id << " in epoch " << epoch;
    }
    const int64_t targets = std::accumulate(seen.begin(), seen.end(), int64_t{0},
                                            [](int64_t sum, const auto& each) { return sum + each.second; });
    EXPECT_EQ(targets, sequences.count() * 5);
    EXPECT_LT(sequences.tokens() - 1 - targets, 5) << "less than a sequence is left out";
  }
}

TEST_F(Batches, come_in_another_order_in_each_epoch_and_for_each_seed) {
  const auto order = [&](int64_t epoch, uint64_t seed) {
    const BatchLoader loader(packed(Split::Training, 0), {.batch = 1, .seed = seed});
    std::vector<int64_t> sequences;
    for (int64_t i = 0; i < loader.sequences().count(); ++i)
      sequences.push_back(loader.sequence_at({epoch, i}));
    return sequences;
  };
  EXPECT_EQ(order(0, 1), order(0, 1));
  EXPECT_NE(order(0, 1), order(1, 1));
  EXPECT_NE(order(0, 1), order(0, 2));
  const std::vector<int64_t> first = order(0, 1);
  EXPECT_EQ(std::set<int64_t>(first.begin(), first.end()).size(), first.size());
}

TEST_F(Batches, of_training_never_show_a_validation_document) {
  std::set<int64_t> training, validation;
  const auto collect = [&](Split split, std::set<int64_t>& documents) {
    const PackedSequences sequences = packed(split, 0.3, 4);
    for (int64_t i = 0; i < sequences.count(); ++i) {
      std::vector<TokenId> tokens(5);
      sequences.read(i, tokens);
      for (const TokenId id : tokens)
        if (id != kEnd) documents.insert(corpus_.document_of(id));
    }
    return sequences.documents();
  };
  const int64_t in_training = collect(Split::Training, training);
  const int64_t in_validation = collect(Split::Validation, validation);
  EXPECT_EQ(in_training + in_validation, corpus_.documents());
  EXPECT_GT(in_validation, 15);
  EXPECT_LT(in_validation, 50);
  for (const int64_t document : validation) {
    EXPECT_FALSE(training.contains(document)) << document;
    EXPECT_EQ(split_of(document, {.validation_share = 0.3, .seed = 3}), Split::Validation);
  }
}

TEST_F(Batches, keep_their_split_when_documents_are_added) {
  const SplitOptions options{.validation_share = 0.5, .seed = 4};
  std::vector<Split> splits;
  for (int64_t i = 0; i < 100; ++i) splits.push_back(split_of(i, options));
  for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(split_of(i, options), splits[static_cast<size_t>(i)]);
  EXPECT_NE(splits, [&] {
    std::vector<Split> others;
    for (int64_t i = 0; i < 100; ++i) others.push_back(split_of(i, {.validation_share = 0.5, .seed = 5}));
    return others;
  }());
}

TEST_F(Batches, are_all_validation_or_none_at_the_ends_of_the_share) {
  EXPECT_EQ(packed(Split::Training, 0).documents(), corpus_.documents());
  EXPECT_EQ(packed(Split::Validation, 1).documents(), corpus_.documents());
}

TEST_F(Batches, continue_from_any_position_as_if_nothing_had_happened) {
  BatchLoader whole(packed(Split::Training, 0.1), {.batch = 7, .seed = 2});
  std::vector<LoaderPosition> positions;
  std::vector<Batch> batches;
  while (whole.position().epoch < 3) {
    positions.push_back(whole.position());
    batches.push_back(whole.next());
    EXPECT_EQ(batches.back().sequences, 7);
  }
  for (size_t i = 0; i < positions.size(); ++i) {
    BatchLoader resumed(packed(Split::Training, 0.1), {.batch = 7, .seed = 2});
    resumed.seek(positions[i]);
    for (size_t j = i; j < std::min(i + 3, batches.size()); ++j) {
      const Batch batch = resumed.next();
      EXPECT_EQ(batch.inputs, batches[j].inputs) << "batch " << j << " after " << i;
      EXPECT_EQ(batch.targets, batches[j].targets);
    }
  }
}

TEST_F(Batches, may_be_larger_than_an_epoch) {
  BatchLoader loader(packed(Split::Training, 0), {.batch = 1000, .seed = 1});
  EXPECT_EQ(loader.next().sequences, 1000);
  const int64_t count = loader.sequences().count();
  EXPECT_EQ(loader.position(), (LoaderPosition{.epoch = 1000 / count, .index = 1000 % count}));
}

TEST_F(Batches, refuse_a_position_that_is_none) {
  BatchLoader loader(packed(Split::Training, 0), {.batch = 1, .seed = 1});
  const int64_t count = loader.sequences().count();
  const std::string last = std::to_string(count - 1);
  EXPECT_BAD_INPUT(loader.seek({.epoch = 2, .index = count}),
                   "position in the training data: expected sequence 0 to " + last + " of an epoch, got " +
                       std::to_string(count) + " of epoch 2 (are these the data that the run began with?)");
  EXPECT_THROW(loader.seek({.epoch = 0, .index = -1}), Error);
  EXPECT_THROW(loader.seek({.epoch = -1, .index = 0}), Error);
  EXPECT_EQ(loader.position(), LoaderPosition{});
}

TEST(PackedSequences, need_one_sequence) {
  Corpus corpus;
  const TokenShard shard = corpus.add({3, 4});  // 9 tokens with the ends
  EXPECT_EQ(PackedSequences({shard}, {.length = 8}).count(), 1);
  EXPECT_BAD_INPUT(PackedSequences({shard}, {.length = 9}),
                   shard.name() +
                       ": too little training data: expected at least 10 tokens for a sequence of 9, "
                       "got 9 in 2 of 2 documents (shorter sequences or more text help)");
  EXPECT_BAD_INPUT(PackedSequences({shard, shard}, {.length = 8, .split = Split::Validation}),
                   shard.name() +
                       " and 1 other shards: too little validation data: expected at least 9 tokens for a "
                       "sequence of 8, got 0 in 0 of 4 documents (a larger validation.share, shorter "
                       "sequences or more text help)");
}

std::vector<TokenId> tokens_of(const PackedSequences& sequences) {
  std::vector<TokenId> all, some(static_cast<size_t>(sequences.length()) + 1);
  for (int64_t i = 0; i < sequences.count(); ++i) {
    sequences.read(i, some);
    all.insert(all.end(), some.begin() + (i > 0), some.end());
  }
  return all;
}

PackedSequences by_position(const std::vector<TokenShard>& shards, Split split, SplitRule rule) {
  return PackedSequences(shards,
                         {.length = 10, .split = split, .kept_out = {.validation_share = 0.2, .rule = rule}});
}

TEST(PackedSequences, of_one_long_document_hold_out_its_end_behind_a_gap_of_one_sequence) {
  Corpus corpus;
  const TokenShard shard = corpus.add({199});  // tokens 0 to 198 and the end
  for (const SplitRule rule : {SplitRule::Auto, SplitRule::Position}) {
    const std::vector<TokenId> training = tokens_of(by_position({shard}, Split::Training, rule));
    const std::vector<TokenId> validation = tokens_of(by_position({shard}, Split::Validation, rule));
    EXPECT_EQ(training.front(), 0);
    EXPECT_EQ(training.back(), 140) << "sequences of ten, and the last target; 150 to 159 are the gap";
    EXPECT_EQ(validation.front(), 160);
    EXPECT_EQ(by_position({shard}, Split::Training, rule).tokens(), 150);
    EXPECT_EQ(by_position({shard}, Split::Validation, rule).tokens(), 40);
  }
}

TEST(PackedSequences, by_position_go_through_the_shards_in_their_order) {
  Corpus corpus;
  const TokenShard a = corpus.add({100, 40}), b = corpus.add({20, 36});
  const PackedSequences validation = by_position({a, b}, Split::Validation, SplitRule::Position);
  EXPECT_EQ(validation.tokens(), 40) << "of 200";
  EXPECT_EQ(tokens_of(validation).front(), 158) << "behind 102 + 40 tokens and 18 of the third document";
  EXPECT_EQ(by_position({a, b}, Split::Training, SplitRule::Position).tokens(), 150);
}

TEST(PackedSequences, hold_out_documents_where_there_are_enough_of_them) {
  Corpus corpus;
  const TokenShard shard = corpus.add(std::vector<size_t>(100, 9));
  const SplitOptions automatic{.validation_share = 0.2, .rule = SplitRule::Auto};
  EXPECT_EQ(settled_rule(std::span(&shard, 1), 10, automatic), SplitRule::Documents);
  EXPECT_EQ(settled_rule(std::span(&shard, 1), 400, automatic), SplitRule::Position)
      << "no sequence of 400 in a fifth of the documents";
  EXPECT_EQ(tokens_of(by_position({shard}, Split::Validation, SplitRule::Auto)),
            tokens_of(by_position({shard}, Split::Validation, SplitRule::Documents)));
}

TEST(PackedSequences, too_short_to_hold_out_a_sequence_say_what_there_is) {
  Corpus corpus;
  const TokenShard shard = corpus.add({39});
  EXPECT_BAD_INPUT(
      by_position({shard}, Split::Validation, SplitRule::Auto),
      shard.name() +
          ": too little validation data: expected at least 11 tokens for a sequence of 10, got 8 "
          "of 40 at the end of the text (a larger validation.share, shorter sequences or more "
          "text help)");
}

TEST(PackedSequences, need_one_tokenizer) {
  const TemporaryDirectory directory;
  const auto shard = [&](const char* name, uint32_t tokenizer) {
    write_shard(directory.path() / name, {{1}}, {.vocabulary = 10, .end_of_text = 0, .tokenizer = tokenizer});
    return TokenShard(directory.path() / name);
  };
  const TokenShard a = shard("a", 0xaa), b = shard("b", 0xbb), unknown = shard("c", 0);
  EXPECT_EQ(PackedSequences({unknown, a}, {.length = 1}).count(), 3);
  EXPECT_BAD_INPUT(PackedSequences({unknown, a, b}, {.length = 1}),
                   b.name() + ": made by another tokenizer: expected fingerprint 000000aa, as " + a.name() +
                       " has, got 000000bb (sluice data tokenize makes a shard with the right one)");
}

TEST(PackedSequences, need_one_vocabulary) {
  const TemporaryDirectory directory;
  write_shard(directory.path() / "a", {{1}}, {.vocabulary = 10, .end_of_text = 0});
  write_shard(directory.path() / "b", {{1}}, {.vocabulary = 11, .end_of_text = 0});
  const TokenShard a(directory.path() / "a"), b(directory.path() / "b");
  EXPECT_BAD_INPUT(PackedSequences({a, b}, {.length = 1}),
                   b.name() + ": another vocabulary than the shard before it: expected 10, as " + a.name() +
                       " has, got 11");
}

// Of bytes that a caller keeps; a damaged file is refused before.
TEST(PackedSequences, refuse_bad_ids_and_stay_where_they_are) {
  const TemporaryDirectory directory;
  write_shard(directory.path() / "a", {{1, 2, 3}}, {.vocabulary = 10, .end_of_text = 0});
  std::string bytes = MappedFile(directory.path() / "a").text();
  put_number<uint16_t>(bytes, 64, 10);
  BatchLoader loader(PackedSequences({TokenShard(std::as_bytes(std::span(bytes)), "a")}, {.length = 2}),
                     {.batch = 1, .seed = 0});
  EXPECT_THROW(loader.next(), Error);
  EXPECT_EQ(loader.position(), LoaderPosition{});
}

}  // namespace
}  // namespace sluice
