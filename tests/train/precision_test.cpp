// bf16 learns what f32 learns.
#include <gtest/gtest.h>

#include <numeric>

#include "sluice/base/random.h"
#include "sluice/train/trainer.h"
#include "tests/model/small_model.h"

namespace sluice {
namespace {

constexpr int64_t kSteps = 200, kLast = 20;
constexpr int64_t kVocabulary = 64, kSequences = 8, kLength = 16;

// Two times in three the next token follows from the one before; which one, a model has to learn.
Batch batch_of(const Random& random) {
  Batch batch{.sequences = kSequences, .length = kLength, .inputs = {}, .targets = {}};
  TokenId last = 0;
  for (uint64_t i = 0; i < kSequences * kLength; ++i) {
    const bool follows = random.below(2 * i, 3) != 0;
    const auto any = static_cast<TokenId>(random.below(2 * i + 1, kVocabulary));
    batch.inputs.push_back(last);
    last = follows ? static_cast<TokenId>((5 * last + 7) % kVocabulary) : any;
    batch.targets.push_back(last);
  }
  return batch;
}

ModelConfig small_gated_model() {
  ModelConfig config = small_model();
  config.vocabulary = kVocabulary;
  config.gates = {{}};
  return config;
}

std::vector<double> losses_in(Precision precision) {
  Engine engine({.threads = 1});  // too little work to share
  Decoder decoder(small_gated_model());
  decoder.initialise(engine, Random(1));
  Trainer trainer(engine, decoder,
                  {.schedule = {.peak = 1e-2, .warmup = 10, .steps = kSteps}, .precision = precision});
  std::vector<double> losses;
  for (int64_t step = 0; step < kSteps; ++step) {
    const Batch batch = batch_of(Random(2).child(static_cast<uint64_t>(step)));
    losses.push_back(trainer.step({&batch, 1}).loss);
  }
  return losses;
}

double mean_of_last(const std::vector<double>& losses) {
  return std::accumulate(losses.end() - kLast, losses.end(), 0.0) / static_cast<double>(kLast);
}

TEST(Precision, loss_falls_in_bf16_as_it_does_in_f32) {
  const std::vector<double> f32 = losses_in(Precision::F32), bf16 = losses_in(Precision::Bf16);
  // It learned something, or equal losses would mean little.
  EXPECT_LT(mean_of_last(f32), 0.75 * f32.front());
  EXPECT_NEAR(mean_of_last(bf16) / mean_of_last(f32), 1.0, 0.01);
  // They are two runs, not one run twice.
  EXPECT_NE(bf16.back(), f32.back());
}

}  // namespace
}  // namespace sluice
