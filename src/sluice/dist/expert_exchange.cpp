#include "sluice/dist/expert_exchange.h"

#include <algorithm>
#include <charconv>

#include "sluice/ops/grouped_input.h"

namespace sluice {
namespace {

// Which expert of its layer a parameter belongs to, by its name in checkpoints; -1: none.
int64_t expert_of(const std::string& name) {
  constexpr std::string_view kExperts = ".mlp.experts.";
  const size_t place = name.find(kExperts);
  if (place == std::string::npos) return -1;
  int64_t expert = -1;
  std::from_chars(name.data() + place + kExperts.size(), name.data() + name.size(), expert);
  return expert;
}

std::span<std::byte> rows_of(const Tensor& tensor, Range rows) {
  const auto width = static_cast<size_t>(tensor.cols());
  return std::as_writable_bytes(tensor.values<float>().subspan(static_cast<size_t>(rows.begin) * width,
                                                               static_cast<size_t>(rows.size()) * width));
}

std::span<std::byte> all_rows_of(const Tensor& tensor) {
  return rows_of(tensor, {0, tensor.rows()});
}

}  // namespace

std::string_view name_of(ExpertPlacement placement) {
  return placement == ExpertPlacement::Spread ? "spread" : "everywhere";
}

std::vector<int> expert_owners(const Decoder& decoder, const Ranks& ranks, ExpertPlacement placement) {
  std::vector<int> owners(decoder.parameters().size(), -1);
  if (placement == ExpertPlacement::Everywhere || ranks.size() == 1 || !decoder.config().moe) return owners;
  for (size_t i = 0; i < owners.size(); ++i) {
    const int64_t expert = expert_of(decoder.parameters()[i].parameter->name);
    for (int rank = 0; rank < ranks.size() && expert >= 0; ++rank) {
      const Range experts = share_of(decoder.config().moe->experts, rank, ranks.size());
      if (expert >= experts.begin && expert < experts.end) owners[i] = rank;
    }
  }
  return owners;
}

ExpertExchange::ExpertExchange(Ranks& ranks, const Decoder& decoder) : ranks_(ranks) {
  for (int rank = 0; rank < ranks.size(); ++rank)
    experts_.push_back(share_of(decoder.config().moe->experts, rank, ranks.size()));
  const std::vector<int> owners = expert_owners(decoder, ranks, ExpertPlacement::Spread);
  for (size_t i = 0; i < owners.size(); ++i)
    if (owners[i] == ranks.rank()) own_.push_back(decoder.parameters()[i].parameter);
}

void ExpertExchange::begin_step(const Context& context, int64_t own_passes) {
  context_.emplace(context);
  own_passes_ = own_passes;
  passes_done_ = 0;
  sums_.clear();
  pass_.assign(experts_.size(), GradientSet(own_.size()));
  for (size_t rank = 0; rank < experts_.size(); ++rank)
    sums_.push_back(pass_gradients(context, own_passes * ranks_.size()));
}

// In the exact order a rank's passes follow each other, and in the fast one they may as well.
void ExpertExchange::end_pass() {
  for (size_t rank = 0; rank < pass_.size(); ++rank) {
    sums_[rank].push(static_cast<int64_t>(rank) * own_passes_ + passes_done_,
                     std::exchange(pass_[rank], GradientSet(own_.size())));
  }
  ++passes_done_;
}

void ExpertExchange::end_step() {
  PassGradients all = pass_gradients(*context_, own_passes_ * ranks_.size());
  for (PassGradients& sum : sums_)
    for (PassGradients::Term& term : sum.take()) all.push(term.node, std::move(term.value));
  GradientSet total = std::move(all.take().front().value);
  for (size_t i = 0; i < own_.size(); ++i) own_[i]->grad = std::move(total[i]);
  sums_.clear();
}

std::vector<ExpertExchange::Served> ExpertExchange::receive(const Context& context, const Tensor& sorted,
                                                            const ExpertRows& rows,
                                                            const std::vector<Range>& parts) {
  const auto self = static_cast<size_t>(ranks_.rank());
  // The number of tokens, then how many rows each of the other's experts gets.
  std::vector<std::vector<int64_t>> told, heard;
  Ranks::Outgoing out;
  Ranks::Incoming in;
  for (const Range& experts : experts_) {
    told.push_back({rows.token_count()});
    for (int64_t e = experts.begin; e < experts.end; ++e) told.back().push_back(rows.groups.rows(e).size());
    heard.emplace_back(static_cast<size_t>(experts_[self].size()) + 1);
  }
  for (const std::vector<int64_t>& each : told) out.push_back(std::as_bytes(std::span(each)));
  for (std::vector<int64_t>& each : heard) in.push_back(std::as_writable_bytes(std::span(each)));
  ranks_.exchange(out, in);
  std::vector<Served> served;
  out.clear();
  in.clear();
  for (size_t rank = 0; rank < heard.size(); ++rank) {
    Served& next = served.emplace_back();
    next.rows.tokens = heard[rank].front();
    for (size_t e = 1; e < heard[rank].size(); ++e)
      next.rows.groups.starts.push_back(next.rows.groups.total() + heard[rank][e]);
    const Tensor x = context.empty({next.rows.groups.total(), sorted.cols()}, DType::F32);
    next.x = {Var(x), Var(x)};
    out.push_back(rows_of(sorted, parts[rank]));
    in.push_back(all_rows_of(x));
  }
  ranks_.exchange(out, in);
  return served;
}

std::vector<Tensor> ExpertExchange::send_rows(const Context& context, const Tensor& rows,
                                              const Layer& layer) {
  std::vector<Tensor> received;
  Ranks::Outgoing out;
  Ranks::Incoming in;
  for (size_t rank = 0; rank < layer.served.size(); ++rank) {
    received.push_back(context.empty({layer.served[rank].rows.groups.total(), rows.cols()}, DType::F32));
    out.push_back(rows_of(rows, layer.parts[rank]));
    in.push_back(all_rows_of(received.back()));
  }
  ranks_.exchange(out, in);
  return received;
}

Tensor ExpertExchange::return_rows(const Context& context, const std::vector<Tensor>& rows,
                                   const Layer& layer) {
  Tensor own = context.empty({layer.parts.back().end, rows.front().cols()}, DType::F32);
  Ranks::Outgoing out;
  Ranks::Incoming in;
  for (size_t rank = 0; rank < rows.size(); ++rank) {
    out.push_back(all_rows_of(rows[rank]));
    in.push_back(rows_of(own, layer.parts[rank]));
  }
  ranks_.exchange(out, in);
  return own;
}

Var ExpertExchange::mlps(const Context& context, const Var& x, const ExpertRows& rows,
                         const Weights& weights) {
  SLUICE_ASSERT(x.dtype() == DType::F32, "spread experts: values of {}", name_of(x.dtype()));
  const auto layer = std::make_shared<Layer>();
  layer->x = x.slot();
  layer->shape = x.shape();
  layer->places = rows.places;
  for (const Range& experts : experts_)
    layer->parts.push_back({rows.groups.starts[static_cast<size_t>(experts.begin)],
                            rows.groups.starts[static_cast<size_t>(experts.end)]});
  GroupedInput input(x.value(), rows.groups, rows.tokens);
  layer->served = receive(context, input.rows(context), rows, layer->parts);
  std::vector<Tensor> made;
  for (Served& served : layer->served) {
    if (context.tape != nullptr) {
      served.tape = std::make_unique<Tape>();
      const Tensor values = served.x.for_gate.value();
      served.x = {served.tape->leaf(values), served.tape->leaf(values)};
    }
    const Context apart = context.with_tape(served.tape.get());
    const Range own = experts_[static_cast<size_t>(ranks_.rank())];
    served.y = expert_mlps(apart, served.x, served.rows, weights(apart, own));
    made.push_back(served.y.value());
  }
  return result(context, return_rows(context, made, *layer), {layer->x},
                [this, layer](Gradients& gradients) { backward(*layer, gradients); });
}

void ExpertExchange::backward(Layer& layer, Gradients& gradients) {
  const Context& context = gradients.context();
  const std::vector<Tensor> dy = send_rows(context, gradients.dy(), layer);
  std::vector<Tensor> for_gate, for_up;
  for (size_t rank = 0; rank < layer.served.size(); ++rank) {
    Served& served = layer.served[rank];
    served.tape->backward(context, served.y, dy[rank]);
    take_gradients_of(rank);
    for_gate.push_back(served.tape->gradient(served.x.for_gate));
    for_up.push_back(served.tape->gradient(served.x.for_up));
  }
  layer.served.clear();
  // The last use first, as on one rank.
  for (const std::vector<Tensor>& rows : {for_up, for_gate}) {
    const Tensor own = return_rows(context, rows, layer);
    add_rows_of_tokens(context, own, layer.places, gradients.target(layer.x, layer.shape, DType::F32));
  }
}

// What a tape has just left in the parameters of own experts belongs to a pass of that rank.
void ExpertExchange::take_gradients_of(size_t rank) {
  for (size_t i = 0; i < own_.size(); ++i)
    if (own_[i]->grad.defined()) pass_[rank][i] = std::exchange(own_[i]->grad, {});
}

}  // namespace sluice
