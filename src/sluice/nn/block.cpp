#include "sluice/nn/block.h"

#include <array>

#include "sluice/nn/tap_points.h"
#include "sluice/ops/arithmetic.h"
#include "sluice/ops/clip.h"

namespace sluice {

// One half of a block, with what stands around it.
template <class Part>
struct Block::Branch {
  const Part& part;
  const Norm& norm;
  const Norm& out_norm;
  const TapPoint& input;
  const TapPoint& output;
  const TapPoint& sum;  // the stream behind it
};

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
                              const Branch<Part>& branch) const {
  const Var input = tap(context, {call.layer, branch.input}, branch.norm.apply(context, stream));
  // A branch adds itself to the stream unless something happens to its output on the way, or somebody looks.
  const bool adds_itself = branch.part.takes_residual() && !branch.out_norm.present() && !shape_.clip &&
                           !is_probed(context, {call.layer, branch.output});
  const LayerOutput output = branch.part.apply(
      context, input, {.layer = call.layer, .pass = call.pass, .residual = adds_itself ? stream : Var()});
  Var sum = output.y;
  if (!adds_itself) {
    const Var normed = branch.out_norm.apply(context, output.y);
    const Var clipped = shape_.clip ? clip(context, normed, *shape_.clip) : normed;
    sum = add(context, stream, tap(context, {call.layer, branch.output}, clipped));
  }
  return {.y = tap(context, {call.layer, branch.sum}, sum), .auxiliary_loss = output.auxiliary_loss};
}

LayerOutput Block::apply(const Context& context, const Var& x, const LayerCall& call) const {
  const Branch<Mixer> mixing{
      *mixer_, mixer_norm_, mixer_out_norm_, points::kAttentionInput, points::kAttentionOut, points::kMiddle};
  const Branch<FeedForward> feeding{*feed_forward_,    feed_forward_norm_, feed_forward_out_norm_,
                                    points::kMlpInput, points::kMlpOut,    points::kResidual};
  const LayerOutput middle = add_branch(context, x, call, mixing);
  const LayerOutput end = add_branch(context, middle.y, call, feeding);
  const std::array losses = {middle.auxiliary_loss, end.auxiliary_loss};
  return {.y = end.y, .auxiliary_loss = sum_of_losses(context, losses)};
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
