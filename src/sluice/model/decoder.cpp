#include "sluice/model/decoder.h"

#include <fmt/format.h>

#include "sluice/model/architecture.h"
#include "sluice/model/rope.h"
#include "sluice/nn/tap_memory.h"
#include "sluice/nn/tap_points.h"
#include "sluice/ops/embedding.h"
#include "sluice/ops/recompute.h"

namespace sluice {
namespace {

// Cosines and sines of the positions that the tokens have, and of no others.
Rotary rotary_of(const Context& context, const ModelConfig& config, const Sequences& sequences,
                 int64_t past) {
  const Tensor rows = context.empty({sequences.tokens()}, DType::I32);
  for (int64_t s = 0; s < sequences.count(); ++s) {
    int32_t* first = rows.data<int32_t>() + sequences.starts()[static_cast<size_t>(s)];
    for (int64_t t = 0; t < sequences.length(s); ++t) first[t] = static_cast<int32_t>(t);
  }
  const RopeTableOptions options = rope_options(config, past, sequences.longest());
  return {.table = rope_table(context, options, DType::F32), .positions = rows};
}

}  // namespace

Decoder::Decoder(ModelConfig config) : config_(std::move(config)) {
  ParameterList list;
  list.add("model.embed_tokens.weight", embedding_, {config_.vocabulary, config_.hidden}).use =
      MatrixUse::Embedding;
  blocks_.reserve(static_cast<size_t>(config_.layers));  // the list points into the blocks
  for (int64_t layer = 0; layer < config_.layers; ++layer) {
    blocks_.push_back(make_block(config_, layer));
    blocks_.back().list_parameters(list, fmt::format("model.layers.{}.", layer));
  }
  final_norm_.options = block_shape(config_).norm;
  list.add_norm("model.norm", final_norm_, config_.hidden);
  if (!config_.tied)
    list.add("lm_head.weight", head_, {config_.vocabulary, config_.hidden}).use = MatrixUse::Output;
  parameters_ = list.take();
}

void Decoder::initialise(Engine& engine, const Random& random, const Initialisation& start) {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    NamedParameter named = parameters_[i];
    named.std = starting_std(named, start, layers());
    named.parameter->value = initial_values(engine.pool(), engine.threads(), named, random.child(i));
  }
}

void Decoder::drop_packed_weights() const {
  for (const NamedParameter& named : parameters_) named.parameter->drop_packed();
}

DecoderState Decoder::make_state(const Context& context, int64_t capacity) const {
  DecoderState state{.capacity = capacity};
  for (const Block& block : blocks_) state.layers.push_back(block.mixer().make_state(context, capacity));
  return state;
}

Pass Decoder::begin(const Context& context, const Sequences& sequences, DecoderState* state) const {
  SLUICE_ASSERT(state == nullptr || (sequences.count() == 1 && state->layers.size() == blocks_.size()),
                "decoder: {} sequences go on in a state of {} layers", sequences.count(),
                state->layers.size());
  SLUICE_ASSERT(state == nullptr || context.tape == nullptr, "decoder: no gradient through a state");
  Pass pass{.sequences = sequences, .rotary = {}, .state = state};
  SLUICE_ASSERT(state == nullptr || pass.past() + sequences.tokens() <= state->capacity,
                "decoder: {} tokens after {} in a state for {}", sequences.tokens(), pass.past(),
                state->capacity);
  if (context.probe != nullptr) context.probe->begin_pass({sequences, pass.past()});
  pass.rotary = rotary_of(context, config_, sequences, pass.past());
  return pass;
}

Var Decoder::embed(const Context& context, std::span<const int32_t> ids) const {
  const auto tokens = static_cast<int64_t>(ids.size());
  const Tensor input = Tensor::from<int32_t>(context.engine.pool(), {tokens}, ids);
  const Var x = embedding(context, use(context, embedding_), input);
  return tap(context, {TapName::kNoLayer, points::kEmbedding}, x);
}

// With a tape and recomputation, run_block() calls the block a second time when gradients are computed.
LayerOutput Decoder::run_layer(const Context& context, const Var& x, const Pass& pass, int64_t layer) const {
  const bool repeats = context.tape != nullptr && context.activations == Activations::Recompute;
  const auto memory =
      repeats && context.probe != nullptr ? std::make_shared<TapMemory>(*context.probe) : nullptr;
  const auto block = [this, pass, layer, memory](const Context& inner, const std::vector<Var>& inputs) {
    const Context probed = memory ? inner.with_probe(memory.get()) : inner;
    const LayerOutput output =
        blocks_[static_cast<size_t>(layer)].apply(probed, inputs[0], {.layer = layer, .pass = pass});
    return std::vector<Var>{output.y, output.auxiliary_loss};
  };
  const std::vector<Var> results = run_block(context, {x}, block);
  if (memory) memory->repeat_from_now_on();
  return {.y = results[0], .auxiliary_loss = results[1]};
}

LayerOutput Decoder::run(const Context& context, const Var& x, const Pass& pass, Range layers) const {
  SLUICE_ASSERT(0 <= layers.begin && layers.begin <= layers.end && layers.end <= this->layers(),
                "decoder: layers {} to {} of {}", layers.begin, layers.end, this->layers());
  LayerOutput stream{.y = x};
  std::vector<Var> losses;
  for (int64_t layer = layers.begin; layer < layers.end; ++layer) {
    stream = run_layer(context, stream.y, pass, layer);
    losses.push_back(stream.auxiliary_loss);
  }
  return {.y = stream.y, .auxiliary_loss = sum_of_losses(context, losses)};
}

Var Decoder::finish(const Context& context, const Var& x) const {
  return tap(context, {TapName::kNoLayer, points::kFinalNorm}, final_norm_.apply(context, x));
}

void Decoder::end(const Pass& pass) const {
  if (pass.state != nullptr) pass.state->tokens += pass.sequences.tokens();
}

LayerOutput Decoder::forward(const Context& context, std::span<const int32_t> ids, const Sequences& sequences,
                             DecoderState* state) const {
  const Pass pass = begin(context, sequences, state);
  LayerOutput output = run(context, embed(context, ids), pass, {0, layers()});
  output.y = finish(context, output.y);
  end(pass);
  return output;
}

LayerOutput Decoder::forward(const Context& context, std::span<const int32_t> ids,
                             DecoderState* state) const {
  return forward(context, ids, Sequences::equal(1, std::ssize(ids)), state);
}

Var Decoder::logits(const Context& context, const Var& hidden) const {
  const Var y = linear(context, hidden, {.weight = weight_of(context, output_weight())});
  return tap(context, {TapName::kNoLayer, points::kLogits}, y);
}

}  // namespace sluice
