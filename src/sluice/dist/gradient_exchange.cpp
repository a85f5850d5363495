#include "sluice/dist/gradient_exchange.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "sluice/ops/arithmetic.h"
#include "sluice/ops/convert.h"

namespace sluice {
namespace {

// What one rank sends of one bucket to another: for each of its nodes and each piece of the other's part 1 or
// 0, whether there is a gradient; then, node by node, the elements of the pieces.
int64_t message_elements(size_t nodes, const std::vector<ParameterPiece>& part) {
  return static_cast<int64_t>(nodes) * (std::ssize(part) + count_of(part));
}

template <class T>
void pack(std::span<const PassGradients::Term> terms, const std::vector<ParameterPiece>& part, T* out) {
  const auto convert_one = [](float value) {
    if constexpr (std::is_same_v<T, Bf16>) {
      return to_bf16(value);
    } else {
      return value;
    }
  };
  for (const auto& term : terms)
    for (const ParameterPiece& piece : part)
      *out++ = convert_one(term.value[piece.parameter].defined() ? 1.0F : 0.0F);
  for (const auto& term : terms) {
    for (const ParameterPiece& piece : part) {
      const Tensor& grad = term.value[piece.parameter];
      if (grad.defined()) {
        const float* begin = grad.data<float>() + piece.begin;
        std::transform(begin, begin + piece.count(), out, convert_one);
      } else {
        std::fill_n(out, piece.count(), T{});
      }
      out += piece.count();
    }
  }
}

std::span<std::byte> slice(const Tensor& tensor, int64_t begin, int64_t count) {
  const size_t size = size_of(tensor.dtype());
  std::byte* first = tensor.dtype() == DType::BF16 ? reinterpret_cast<std::byte*>(tensor.data<Bf16>())
                                                   : reinterpret_cast<std::byte*>(tensor.data<float>());
  return {first + static_cast<size_t>(begin) * size, static_cast<size_t>(count) * size};
}

// A piece's gradient of one node; none if there is no such gradient.
using Summand = float*;

struct AddSummands {
  const Context* context;
  int64_t count;

  Summand operator()(Summand left, Summand right) const {
    if (left == nullptr || right == nullptr) return left == nullptr ? right : left;
    const ScaledAdd<float> args{.a = left, .b = right, .y = left};
    context->run(context->kernels<float>().scaled_add, args, count, 1);
    return left;
  }
};

}  // namespace

std::string_view name_of(ReduceOrder order) {
  switch (order) {
    case ReduceOrder::Exact:
      return "exact";
    case ReduceOrder::Fast:
      return "fast";
    case ReduceOrder::FastBf16:
      return "fast-bf16";
  }
  return "?";
}

GradientSet AddGradients::operator()(GradientSet left, GradientSet right) const {
  for (size_t i = 0; i < left.size(); ++i) {
    if (!left[i].defined()) {
      left[i] = std::move(right[i]);
    } else if (right[i].defined()) {
      add_into(context, left[i], left[i], right[i]);
      right[i] = {};
    }
  }
  return left;
}

PassGradients pass_gradients(const Context& context, int64_t passes) {
  return {passes, AddGradients{context}};
}

GradientSet take_gradients(const std::vector<NamedParameter>& parameters) {
  GradientSet taken;
  for (const NamedParameter& named : parameters) taken.push_back(std::exchange(named.parameter->grad, {}));
  return taken;
}

GradientExchange::GradientExchange(Ranks& ranks, const std::vector<NamedParameter>& parameters,
                                   const std::vector<int>& owners)
    : ranks_(ranks),
      parameters_(parameters),
      layout_(parameters, ranks.size(), ShardLayout::kBucketElements, owners) {}

GradientExchange::Bundle GradientExchange::begin_bucket(const Context& context, size_t bucket) const {
  const auto& parts = layout_.buckets()[bucket].parts;
  const auto self = static_cast<size_t>(ranks_.rank());
  std::vector<int64_t> out_sizes, in_sizes;
  for (size_t rank = 0; rank < parts.size(); ++rank) {
    out_sizes.push_back(rank == self ? 0 : message_elements(own_.size(), parts[rank]));
    in_sizes.push_back(rank == self ? 0 : message_elements(nodes_[rank].size(), parts[self]));
  }
  Bundle bundle{.bucket = bucket,
                .out = context.empty({std::reduce(out_sizes.begin(), out_sizes.end())}, payload_),
                .in = context.empty({std::reduce(in_sizes.begin(), in_sizes.end())}, payload_),
                .begins = {},
                .transfer = {}};
  Ranks::Outgoing out;
  Ranks::Incoming in;
  int64_t out_begin = 0, in_begin = 0;
  for (size_t rank = 0; rank < parts.size(); ++rank) {
    if (rank != self && payload_ == DType::BF16)
      pack(std::span(own_), parts[rank], bundle.out.data<Bf16>() + out_begin);
    if (rank != self && payload_ == DType::F32)
      pack(std::span(own_), parts[rank], bundle.out.data<float>() + out_begin);
    out.push_back(slice(bundle.out, out_begin, out_sizes[rank]));
    in.push_back(slice(bundle.in, in_begin, in_sizes[rank]));
    bundle.begins.push_back(in_begin);
    out_begin += out_sizes[rank];
    in_begin += in_sizes[rank];
  }
  bundle.transfer = ranks_.begin(out, in);
  return bundle;
}

void GradientExchange::finish_bucket(const Context& context, Bundle& bundle) const {
  ranks_.wait(*bundle.transfer);
  const auto self = static_cast<size_t>(ranks_.rank());
  const std::vector<ParameterPiece>& part = layout_.buckets()[bundle.bucket].parts[self];
  const Tensor received = payload_ == DType::BF16 ? convert(context, bundle.in, DType::F32) : bundle.in;
  int64_t offset = 0;  // of the piece among the elements of a node
  for (size_t p = 0; p < part.size(); ++p) {
    const ParameterPiece& piece = part[p];
    PairwiseSum<Summand, AddSummands> sum(leaves_, {&context, piece.count()});
    for (size_t rank = 0; rank < nodes_.size(); ++rank) {
      const float* flags = received.data<float>() + bundle.begins[rank];
      float* elements =
          received.data<float>() + bundle.begins[rank] + std::ssize(nodes_[rank]) * std::ssize(part);
      for (size_t n = 0; n < nodes_[rank].size(); ++n) {
        Summand summand = nullptr;
        if (rank == self) {
          const Tensor& grad = own_[n].value[piece.parameter];
          if (grad.defined()) summand = grad.data<float>() + piece.begin;
        } else if (flags[n * part.size() + p] != 0) {
          summand = elements + static_cast<int64_t>(n) * count_of(part) + offset;
        }
        sum.push(nodes_[rank][n], summand);
      }
    }
    offset += piece.count();
    const Summand total = sum.terms().front().value;
    Tensor& grad = parameters_[piece.parameter].parameter->grad;
    if (total == nullptr) continue;
    if (!grad.defined()) grad = context.empty(parameters_[piece.parameter].shape, DType::F32);
    if (total != grad.data<float>() + piece.begin)
      std::memcpy(grad.data<float>() + piece.begin, total,
                  static_cast<size_t>(piece.count()) * sizeof(float));
  }
}

void GradientExchange::sum_exactly(const Context& context, PassGradients own, int64_t passes) {
  own_ = own.take();
  if (ranks_.size() == 1) {
    for (size_t i = 0; i < parameters_.size(); ++i) parameters_[i].parameter->grad = own_.front().value[i];
    own_.clear();
    return;
  }
  payload_ = DType::F32;
  leaves_ = passes;
  nodes_.clear();
  for (int rank = 0; rank < ranks_.size(); ++rank)
    nodes_.push_back(nodes_of(passes_of(rank, passes), passes));
  // The sums may be written over the first node, which nobody needs afterwards.
  for (size_t i = 0; i < parameters_.size(); ++i) parameters_[i].parameter->grad = own_.front().value[i];
  std::optional<Bundle> before;
  for (size_t bucket = 0; bucket < layout_.buckets().size(); ++bucket) {
    Bundle next = begin_bucket(context, bucket);
    if (before) finish_bucket(context, *before);
    before = std::move(next);
  }
  if (before) finish_bucket(context, *before);
  own_.clear();
}

void GradientExchange::begin_sum(const Context& context, DType payload) {
  if (ranks_.size() == 1) return;
  payload_ = payload;
  context_.emplace(context);
  leaves_ = ranks_.size();
  nodes_.clear();
  for (int rank = 0; rank < ranks_.size(); ++rank) nodes_.push_back({PassNode{0, rank}});
  own_.clear();
  own_.push_back({PassNode{0, ranks_.rank()}, GradientSet(parameters_.size())});
  missing_.clear();
  for (const ShardLayout::Bucket& bucket : layout_.buckets()) missing_.push_back(bucket.pieces.size());
  done_.assign(parameters_.size(), false);
  begun_ = 0;
}

void GradientExchange::note_done(const Parameter& parameter) {
  if (ranks_.size() == 1) return;
  const auto place = std::ranges::find(parameters_, &parameter, &NamedParameter::parameter);
  const auto index = static_cast<size_t>(place - parameters_.begin());
  if (place == parameters_.end() || done_[index]) return;
  done_[index] = true;
  own_.front().value[index] = parameter.grad;
  for (size_t b = 0; b < missing_.size(); ++b)
    for (const ParameterPiece& piece : layout_.buckets()[b].pieces)
      if (piece.parameter == index) --missing_[b];
  begin_ready_buckets();
  finish_over_buckets();
}

// In their order, which is the same on all ranks, whatever is complete first on one of them.
void GradientExchange::begin_ready_buckets() {
  while (begun_ < missing_.size() && missing_[begun_] == 0)
    under_way_.push_back(begin_bucket(*context_, begun_++));
}

void GradientExchange::finish_over_buckets() {
  while (!under_way_.empty() && under_way_.front().transfer->is_over()) {
    finish_bucket(*context_, under_way_.front());
    under_way_.pop_front();
  }
}

void GradientExchange::finish_sum() {
  if (ranks_.size() == 1) return;
  for (const NamedParameter& named : parameters_) note_done(*named.parameter);
  while (!under_way_.empty()) {
    finish_bucket(*context_, under_way_.front());
    under_way_.pop_front();
  }
  own_.clear();
}

double GradientExchange::norm(const Context& context, const AdamW& optimizer) {
  if (ranks_.size() == 1) return optimizer.gradient_norm(context);
  const std::vector<float> own = optimizer.square_sums(context);
  const std::string bytes(reinterpret_cast<const char*>(own.data()), own.size() * sizeof(float));
  const std::vector<std::string> all = all_gather(ranks_, bytes);
  // Places of the parameters' blocks among all.
  std::vector<int64_t> first = {0};
  const auto blocks = [](int64_t elements) { return (elements + kSumBlock - 1) / kSumBlock; };
  for (const NamedParameter& named : parameters_) first.push_back(first.back() + blocks(named.shape.count()));
  std::vector<float> sums(static_cast<size_t>(first.back()));
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    const char* next = all[static_cast<size_t>(rank)].data();
    for (const ParameterPiece& piece : layout_.pieces_of(rank)) {
      const size_t size = static_cast<size_t>(blocks(piece.count())) * sizeof(float);
      std::memcpy(sums.data() + first[piece.parameter] + piece.begin / kSumBlock, next, size);
      next += size;
    }
  }
  return norm_of(sums, parameters_);
}

}  // namespace sluice
