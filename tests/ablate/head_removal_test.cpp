#include "sluice/ablate/head_removal.h"

#include <gtest/gtest.h>

#include "sluice/base/error.h"
#include "sluice/probe/intervention.h"
#include "tests/train/runs.h"

namespace sluice {
namespace {

ModelConfig model_with_own_keys() {
  ModelConfig config = small_model();
  config.kv_heads = config.heads;
  config.tied = true;
  return config;
}

class RemovedHeads : public testing::Test {
 protected:
  RemovedHeads() {
    whole_.initialise(engine_, Random(1));
    pruned_.initialise(engine_, Random(1));
  }

  std::vector<float> hidden(const Decoder& decoder, Probe* probe = nullptr) {
    decoder.drop_packed_weights();
    const std::vector<TokenId> ids = {3, 1, 4, 1, 5, 9, 2, 6};
    const LayerOutput out = decoder.forward({.engine = engine_, .probe = probe}, ids);
    const auto values = out.y.value().values<float>();
    return {values.begin(), values.end()};
  }

  std::vector<float> hidden_when_closed(const Decoder& decoder) {
    Intervener closed(parse_interventions(
        std::vector<std::string>{"layers.0.attn.gated set=0 heads=1", "layers.1.attn.gated set=0 heads=3"},
        decoder.config()));
    return hidden(decoder, &closed);
  }

  const std::vector<HeadPlace> heads_ = {{0, 1}, {1, 3}};
  Engine engine_{{.threads = 1}};
  Decoder whole_{model_with_own_keys()}, pruned_{model_with_own_keys()};
  TemporaryDirectory directory_;
};

TEST_F(RemovedHeads, add_nothing) {
  remove_heads(pruned_, heads_);
  EXPECT_EQ(hidden(pruned_), hidden_when_closed(whole_));
  EXPECT_NE(hidden(pruned_), hidden(whole_));
}

TEST_F(RemovedHeads, stay_away_in_training) {
  remove_heads(pruned_, heads_);
  const std::vector<float> before = hidden(pruned_);
  RunConfig config = small_run(Precision::F32);
  config.model = model_with_own_keys();
  const TrainingOn training{.config = config,
                            .sequences = text_of(config, {TokenShard(write_shard(directory_))}).training,
                            .steps = 3,
                            .rate = 1e-2};
  train_on(engine_, pruned_, training);
  EXPECT_NE(hidden(pruned_), before) << "the others learn";
  EXPECT_EQ(hidden(pruned_), hidden_when_closed(pruned_)) << "closing them changes nothing";
}

TEST(RemovingHeads, is_refused_where_they_share_keys) {
  Decoder shared(small_model());
  EXPECT_THROW(remove_heads(shared, {{0, 1}}), Error);
}

}  // namespace
}  // namespace sluice
