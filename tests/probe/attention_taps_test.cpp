// What is told of attention's probabilities without storing them, and the gate that nobody watches.
#include <gtest/gtest.h>

#include <cmath>

#include "sluice/analysis/pulse.h"
#include "sluice/base/random.h"
#include "sluice/model/decoder.h"
#include "sluice/probe/probe_chain.h"
#include "sluice/probe/recorder.h"
#include "tests/model/small_model.h"

namespace sluice {
namespace {

class AttentionTaps : public testing::Test {
 protected:
  void use_model(const ModelConfig& config) {
    decoder_ = std::make_unique<Decoder>(config);
    decoder_->initialise(engine_, Random(4));
  }

  Tensor logits_of(Probe* probe) {
    const Context context{engine_, nullptr, probe};
    std::vector<int32_t> ids;
    for (int64_t i = 0; i < sequences_.tokens(); ++i) ids.push_back(static_cast<int32_t>(i * 7 % 50));
    return decoder_->logits(context, decoder_->forward(context, ids, sequences_).y).value();
  }

  Engine engine_;
  Sequences sequences_ = Sequences::of_lengths({3, 20, 9});
  std::unique_ptr<Decoder> decoder_;
};

TEST_F(AttentionTaps, sink_and_entropy_are_those_of_the_probabilities) {
  const ModelConfig config = small_model();
  use_model(config);
  Recorder recorder{{TapPattern("attn.probs"), TapPattern("attn.sink"), TapPattern("attn.entropy")}};
  logits_of(&recorder);
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    const std::vector<Tensor>& probs = recorder.at({layer, points::kProbs});
    const Tensor& sink = recorder.at({layer, points::kSink}).front();
    const Tensor& entropy = recorder.at({layer, points::kEntropy}).front();
    ASSERT_EQ(sink.shape(), (Shape{sequences_.tokens(), config.heads}));
    for (int64_t s = 0; s < sequences_.count(); ++s) {
      const int64_t length = sequences_.length(s);
      for (int64_t row = 0; row < config.heads * length; ++row) {
        const float* p = probs[static_cast<size_t>(s)].data<float>() + row * length;
        double nats = 0;
        for (int64_t j = 0; j < length; ++j) nats -= p[j] > 0 ? p[j] * std::log(p[j]) : 0.0;
        const int64_t at =
            (sequences_.starts()[static_cast<size_t>(s)] + row % length) * config.heads + row / length;
        ASSERT_NEAR(sink.data<float>()[at], p[0], 1e-6);
        ASSERT_NEAR(entropy.data<float>()[at], nats, 1e-5);
      }
    }
  }
}

// The mean over heads and queries, then over layers.
double sink_of(const Recorder& recorder, int64_t layers, int64_t first_query) {
  double total = 0;
  for (int64_t layer = 0; layer < layers; ++layer) {
    double sum = 0, count = 0;
    for (const Tensor& probs : recorder.at({layer, points::kProbs})) {
      const int64_t length = probs.shape()[1];
      for (int64_t row = 0; row < probs.shape()[0] * length; ++row) {
        if (row % length < first_query) continue;
        sum += probs.data<float>()[row * length];
        ++count;
      }
    }
    total += sum / count;
  }
  return total / static_cast<double>(layers);
}

TEST_F(AttentionTaps, the_pulse_has_the_sink_of_the_probabilities) {
  const ModelConfig config = small_model();
  use_model(config);
  Recorder recorder{{TapPattern("attn.probs")}};
  PulseProbe pulse;
  ProbeChain chain({&recorder, &pulse});
  logits_of(&chain);
  EXPECT_NEAR(pulse.pulse().sink, sink_of(recorder, config.layers, 0), 1e-6);
  EXPECT_NEAR(pulse.pulse().sink_late, sink_of(recorder, config.layers, 4), 1e-6);
  EXPECT_EQ(pulse.pulse().sequences, 3);
  EXPECT_EQ(pulse.pulse().tokens, 32);
}

TEST_F(AttentionTaps, the_pulse_does_not_ask_for_probabilities) {
  EXPECT_FALSE(PulseProbe().wants({0, points::kProbs}));
}

TEST_F(AttentionTaps, a_gate_that_nobody_watches_gives_the_same_as_a_watched_one) {
  for (const auto granularity : {Granularity::Elementwise, Granularity::Headwise}) {
    use_model(small_model(GateLayout::Separate, {{.form = {.granularity = granularity}, .init_std = 0.5}}));
    const Tensor alone = logits_of(nullptr);
    for (const char* tap : {"attn.mixed", "attn.gate", "attn.gated"}) {
      Recorder recorder{{TapPattern(tap)}};
      const Tensor watched = logits_of(&recorder);
      for (int64_t i = 0; i < alone.count(); ++i)
        ASSERT_EQ(watched.data<float>()[i], alone.data<float>()[i]) << tap << ", element " << i;
    }
  }
}

}  // namespace
}  // namespace sluice
