// Experts spread over ranks: each rank has some of every layer's, gets the rows that chose them from all
// ranks and sends back what they make of them; gradients go the same way. Rows of different ranks are
// computed apart, so that values are bitwise those of one rank, and so are sums of gradients, which are added
// pass by pass (dist/pairwise_sum.h).
//
// Shapes: R own rows sorted by expert, D hidden.
#pragma once

#include <string>

#include "sluice/dist/gradient_exchange.h"
#include "sluice/nn/spread_experts.h"

namespace sluice {

// Where the experts of a model are.
enum class ExpertPlacement {
  Everywhere,  // every rank has all
  Spread       // each rank has some
};

// "everywhere", "spread".
std::string_view name_of(ExpertPlacement placement);

// The rank that has a parameter to itself; -1: none, it is shared out like any other.
std::vector<int> expert_owners(const Decoder& decoder, const Ranks& ranks, ExpertPlacement placement);

class ExpertExchange final : public SpreadExperts {
 public:
  ExpertExchange(Ranks& ranks, const Decoder& decoder);

  Var mlps(const Context& context, const Var& x, const ExpertRows& rows, const Weights& weights) override;

  // A step in which every rank takes so many passes, at the same time as the others.
  void begin_step(const Context& context, int64_t own_passes);
  void end_pass();
  // Afterwards the gradients of own experts are the sums over all passes.
  void end_step();

 private:
  // What the experts here made of another rank's rows, or of this one's.
  struct Served {
    SortedRows rows;
    SortedInput x;
    Var y;
    std::unique_ptr<Tape> tape;  // none: nobody wants gradients
  };
  struct Layer {
    Slot x;
    Shape shape;                 // of x
    Tensor places;               // [N, k]
    std::vector<Range> parts;    // of own rows, by the rank whose experts they chose
    std::vector<Served> served;  // by the rank that sent them
  };

  std::vector<Served> receive(const Context& context, const Tensor& sorted, const ExpertRows& rows,
                              const std::vector<Range>& parts);
  // Rows from the ranks that have the experts to those that they belong to, or the other way.
  std::vector<Tensor> send_rows(const Context& context, const Tensor& rows, const Layer& layer);
  Tensor return_rows(const Context& context, const std::vector<Tensor>& rows, const Layer& layer);
  void backward(Layer& layer, Gradients& gradients);
  void take_gradients_of(size_t rank);

  Ranks& ranks_;
  std::vector<Range> experts_;       // of a layer, by rank
  std::vector<Parameter*> own_;      // of own experts, all layers
  std::vector<GradientSet> pass_;    // of own experts in the passes under way, by the rank that has the pass
  std::vector<PassGradients> sums_;  // of the passes of each rank
  std::optional<Context> context_;
  int64_t own_passes_ = 0, passes_done_ = 0;
};

}  // namespace sluice
