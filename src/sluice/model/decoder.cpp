#include "sluice/model/decoder.h"

#include "sluice/base/error.h"
#include "sluice/model/decoder_parameters.h"
#include "sluice/model/rope.h"
#include "sluice/ops/arithmetic.h"
#include "sluice/ops/clip.h"
#include "sluice/ops/embedding.h"

namespace sluice {
namespace {

// A block's output as the controls have it: normed (sandwich norm), then clipped.
Var finished(const Context& context, Norm& norm, const std::optional<double>& limit, const Var& x) {
  const Var y = norm.apply(context, x);
  return limit ? clip(context, y, *limit) : y;
}

}  // namespace

Decoder::Decoder(ModelConfig config) : config_(std::move(config)) {
  if (config_.moe) throw bad_input({.what = "mixture-of-experts models can be counted, but not run yet"});
  blocks_.resize(static_cast<size_t>(config_.layers));
  ParameterLister lister(config_, parameters_);
  lister.add("model.embed_tokens.weight", embedding_, {config_.vocabulary, config_.hidden});
  for (size_t layer = 0; layer < blocks_.size(); ++layer)
    lister.add_block(static_cast<int64_t>(layer), blocks_[layer]);
  lister.add_norm("model.norm", final_norm_, config_.hidden);
  if (!config_.tied) lister.add("lm_head.weight", head_, {config_.vocabulary, config_.hidden});
}

void Decoder::initialise(Engine& engine, const Random& random) {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const NamedParameter& named = parameters_[i];
    named.parameter->value = initial_values(engine.pool(), engine.threads(), named, random.child(i));
  }
}

Placement Decoder::place(const Context& context, const Sequences& sequences, int64_t past) {
  const int64_t needed = past + sequences.longest();
  if (!rope_.cos.defined() || rope_.cos.rows() < needed) {
    // Twice as many: generation asks for one more each time.
    rope_ = rope_table(context, rope_options(config_, 2 * needed), DType::F32);
  }
  const Tensor positions = context.empty({sequences.tokens()}, DType::I32);
  for (int64_t s = 0; s < sequences.count(); ++s) {
    for (int64_t t = 0; t < sequences.length(s); ++t) {
      positions.data<int32_t>()[sequences.starts()[static_cast<size_t>(s)] + t] =
          static_cast<int32_t>(past + t);
    }
  }
  return {.rotary = {.table = rope_, .positions = positions}, .sequences = sequences, .past = past};
}

Var Decoder::block(const Context& context, int64_t layer, const Var& x, const Placement& placement,
                   KvCache* cache) {
  DecoderBlock& b = blocks_[static_cast<size_t>(layer)];
  const auto watched_rows = [&](std::string_view point, const Var& value) {
    return tap(context, {layer, point}, value.shape(), value);
  };
  const Var input = watched_rows(points::kAttentionInput, b.attention_norm.apply(context, x));
  // A branch adds itself to the stream unless something happens to its output on the way, or somebody looks.
  const auto is_direct = [&](std::string_view point, const Norm& norm) {
    return !norm.present() && !config_.clip && !watched(context, {layer, point});
  };
  const auto added = [&](const Var& stream, std::string_view point, Norm& norm, const Var& y) {
    return add(context, stream, watched_rows(point, finished(context, norm, config_.clip, y)));
  };
  AttentionCall call{.layer = layer, .placement = placement, .cache = cache};
  const bool adds_attention =
      is_direct(points::kAttentionOut, b.attention_out_norm) && b.attention.ends_in_projection();
  if (adds_attention) call.residual = x;
  const Var attended = b.attention.apply(context, input, call);
  const Var middle = watched_rows(
      points::kMiddle,
      adds_attention ? attended : added(x, points::kAttentionOut, b.attention_out_norm, attended));
  const Var mlp_input = watched_rows(points::kMlpInput, b.mlp_norm.apply(context, middle));
  const bool adds_mlp = is_direct(points::kMlpOut, b.mlp_out_norm);
  const Var fed = b.mlp.apply(context, mlp_input, adds_mlp ? middle : Var());
  return watched_rows(points::kResidual,
                      adds_mlp ? fed : added(middle, points::kMlpOut, b.mlp_out_norm, fed));
}

Var Decoder::hidden(const Context& context, const Tensor& ids, const Placement& placement, KvCaches* caches) {
  SLUICE_ASSERT(caches == nullptr || caches->size() == blocks_.size(), "decoder: {} caches for {} layers",
                caches->size(), blocks_.size());
  const auto watched_rows = [&](std::string_view point, const Var& value) {
    return tap(context, {TapName::kNoLayer, point}, value.shape(), value);
  };
  if (context.probe != nullptr) context.probe->begin_pass({placement.sequences, placement.past});
  Var x = watched_rows(points::kEmbedding, embedding(context, use(context, embedding_), ids));
  for (int64_t layer = 0; layer < config_.layers; ++layer) {
    KvCache* cache = caches == nullptr ? nullptr : &(*caches)[static_cast<size_t>(layer)];
    x = run_block(context, activations_, {x},
                  [this, layer, placement, cache](const Context& inner, const std::vector<Var>& inputs) {
                    return block(inner, layer, inputs[0], placement, cache);
                  });
  }
  return watched_rows(points::kFinalNorm, final_norm_.apply(context, x));
}

Var Decoder::logits(const Context& context, const Var& hidden) {
  const LinearWeights weights{
      .weight = use(context, output_weight()), .bias = {}, .int8 = output_weight().int8};
  const Var y = linear(context, hidden, weights);
  return tap(context, {TapName::kNoLayer, points::kLogits}, y.shape(), y);
}

}  // namespace sluice
