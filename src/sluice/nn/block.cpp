#include "sluice/nn/block.h"

#include <array>

#include "sluice/nn/tap_points.h"
#include "sluice/ops/arithmetic.h"
#include "sluice/ops/clip.h"

namespace sluice {

// What stands around one half of a block.
struct Block::Branch {
  const Norm& norm;
  const Norm& out_norm;
  const TapPoint& input;
  const TapPoint& output;
  bool takes_residual;

  // What the half sees of the stream.
  Var input_of(const Context& context, const Var& stream, int64_t layer) const {
    return tap(context, {layer, input}, norm.apply(context, stream));
  }
};

Block::Branch Block::mixing() const {
  return {mixer_norm_, mixer_out_norm_, points::kAttentionInput, points::kAttentionOut,
          mixer_->takes_residual()};
}

Block::Branch Block::feeding() const {
  return {feed_forward_norm_, feed_forward_out_norm_, points::kMlpInput, points::kMlpOut,
          feed_forward_->takes_residual()};
}

Block::Block(const BlockShape& shape, std::unique_ptr<Mixer> mixer, std::unique_ptr<FeedForward> feed_forward)
    : shape_(shape), mixer_(std::move(mixer)), feed_forward_(std::move(feed_forward)) {
  for (Norm* norm : {&mixer_norm_, &feed_forward_norm_, &mixer_out_norm_, &feed_forward_out_norm_})
    norm->options = shape.norm;
}

void Block::list_parameters(ParameterList& list, const std::string& layer) {
  list.add_norm(layer + "input_layernorm", mixer_norm_, shape_.hidden);
  mixer_->list_parameters(list, layer);
  list.add_norm(layer + "post_attention_layernorm", feed_forward_norm_, shape_.hidden);
  feed_forward_->list_parameters(list, layer);
  if (!shape_.sandwich_norm) return;
  list.add_norm(layer + "attn_output_norm", mixer_out_norm_, shape_.hidden);
  list.add_norm(layer + "mlp_output_norm", feed_forward_out_norm_, shape_.hidden);
}

LayerCounts Block::counts() const {
  LayerCounts counts = block_norm_counts(shape_);
  counts += mixer_->counts();
  counts += feed_forward_->counts();
  return counts;
}

LayerCounts block_norm_counts(const BlockShape& shape) {
  return {.parameters = {.norms = shape.hidden * (shape.sandwich_norm ? 4 : 2)}, .flops = {}};
}

template <class Part>
LayerOutput Block::add_branch(const Context& context, const Var& stream, const LayerCall& call,
                              const Branch& branch, const Part& part) const {
  // A branch adds itself to the stream unless something happens to its output on the way, or somebody looks.
  const bool adds_itself = branch.takes_residual && !branch.out_norm.present() && !shape_.clip &&
                           !is_probed(context, {call.layer, branch.output});
  const LayerCall inner{.layer = call.layer, .pass = call.pass, .residual = adds_itself ? stream : Var()};
  const LayerOutput output = part(inner);
  if (adds_itself) return output;
  const Var normed = branch.out_norm.apply(context, output.y);
  const Var clipped = shape_.clip ? clip(context, normed, *shape_.clip) : normed;
  return {.y = add(context, stream, tap(context, {call.layer, branch.output}, clipped)),
          .auxiliary_loss = output.auxiliary_loss};
}

std::unique_ptr<MixedTokens> Block::mix(const Context& context, const Var& x, const LayerCall& call) const {
  return mixer_->mix(context, mixing().input_of(context, x, call.layer), call);
}

LayerOutput Block::middle(const Context& context, const Var& x, const MixedTokens& mixed,
                          const LayerCall& call) const {
  return add_branch(context, x, call, mixing(),
                    [&](const LayerCall& inner) { return mixer_->finish(context, mixed, inner); });
}

LayerOutput Block::middle(const Context& context, const Var& x, const LayerCall& call) const {
  const Var input = mixing().input_of(context, x, call.layer);
  return add_branch(context, x, call, mixing(),
                    [&](const LayerCall& inner) { return mixer_->apply(context, input, inner); });
}

LayerOutput Block::finish(const Context& context, const LayerOutput& middle, const LayerCall& call) const {
  const Var stream = tap(context, {call.layer, points::kMiddle}, middle.y);
  const Var input = feeding().input_of(context, stream, call.layer);
  const LayerOutput end = add_branch(context, stream, call, feeding(), [&](const LayerCall& inner) {
    return feed_forward_->apply(context, input, inner);
  });
  const std::array losses = {middle.auxiliary_loss, end.auxiliary_loss};
  return {.y = tap(context, {call.layer, points::kResidual}, end.y),
          .auxiliary_loss = sum_of_losses(context, losses)};
}

LayerOutput Block::apply(const Context& context, const Var& x, const LayerCall& call) const {
  return finish(context, middle(context, x, call), call);
}

Var sum_of_losses(const Context& context, std::span<const Var> losses) {
  Var total;
  for (const Var& loss : losses) {
    if (!loss.value().defined()) continue;
    SLUICE_ASSERT(loss.shape().count() == 1, "auxiliary loss: {} is no scalar", loss.shape().text());
    total = total.value().defined() ? add(context, total, loss) : loss;
  }
  return total;
}

}  // namespace sluice
