// Shapes: T tokens of the chunk, D hidden, n runs in a batch.
#include "sluice/ablate/layer_sweep.h"

#include <algorithm>

#include "sluice/ablate/run_waves.h"
#include "sluice/nn/tap_points.h"
#include "sluice/ops/arithmetic.h"
#include "sluice/ops/weight_product.h"

namespace sluice {
namespace {

// Which points of a layer a run changes, a bit for each. Runs with the same can be computed in one pass: a
// probe decides which ops a layer uses, and with them, in f32, the last bits.
uint64_t changed_points(const SweptRun& run, int64_t layer) {
  static_assert(points::kAll.size() <= 64);
  uint64_t bits = 0;
  if (run.changes == nullptr) return bits;
  for (size_t i = 0; i < points::kAll.size(); ++i) {
    if (points::kAll[i].place != TapPlace::Layer) continue;
    const TapName name{layer, points::kAll[i]};
    if (std::ranges::any_of(*run.changes, [&](const Intervention& each) { return each.tap.matches(name); }))
      bits |= uint64_t{1} << i;
  }
  return bits;
}

// [n · T, D]
Tensor one_below_the_other(const Context& context, std::span<SweptRun* const> runs) {
  const Tensor& first = runs.front()->stream;
  if (runs.size() == 1) return first;
  Tensor all = context.empty({std::ssize(runs) * first.rows(), first.cols()}, DType::F32);
  for (size_t i = 0; i < runs.size(); ++i)
    std::ranges::copy(runs[i]->stream.values<float>(),
                      all.data<float>() + static_cast<int64_t>(i) * first.count());
  return all;
}

}  // namespace

// Runs that begin in one layer, by the place.
struct LayerSweep::Entrants {
  std::vector<SweptRun*> stream, mixed, middle;

  Entrants(std::span<SweptRun> runs, int64_t layer) {
    for (SweptRun& run : runs) {
      if (run.entry.layer != layer) continue;
      (run.entry.from == BlockEntry::Stream  ? stream
       : run.entry.from == BlockEntry::Mixed ? mixed
                                             : middle)
          .push_back(&run);
    }
  }

  void mixed_from_stream() {
    stream.insert(stream.end(), mixed.begin(), mixed.end());
    mixed.clear();
  }
};

LayerSweep::LayerSweep(const Context& context, const Decoder& decoder, const Text& text,
                       const JobControl& control)
    : context_(context), decoder_(decoder), text_(text), control_(control), together_(1) {
  const Weight weight = weight_of(context, decoder.output_weight());
  const auto tokens = std::ssize(text.ids);
  if (rows_are_independent(product_path(context, weight, tokens))) together_ = runs_per_pass(tokens);
}

const Pass& LayerSweep::pass_of(int64_t sequences) {
  const auto found = passes_.find(sequences);
  if (found != passes_.end()) return found->second;
  const Sequences all = Sequences::equal(sequences, std::ssize(text_.ids));
  return passes_.emplace(sequences, decoder_.begin(context_, all)).first->second;
}

RunBatch::Member LayerSweep::member(SweptRun& run) const {
  return {.changes = run.changes, .signs = text_.signs == Signs::Measured ? &run.signs : nullptr};
}

Tensor LayerSweep::embedded(SweptRun& run) const {
  RunBatch probe({member(run)}, text_.chunk);
  const Sequences one = Sequences::equal(1, std::ssize(text_.ids));
  probe.begin_pass({.sequences = one});
  return decoder_.embed(context_.with_probe(&probe), text_.ids).value();
}

template <class Body>
void LayerSweep::each_batch(std::span<SweptRun* const> runs, int64_t layer, const Body& body) {
  std::map<uint64_t, std::vector<SweptRun*>> alike;
  for (SweptRun* run : runs) alike[changed_points(*run, layer)].push_back(run);
  const int64_t tokens = std::ssize(text_.ids);
  for (const auto& [points, group] : alike) {
    for (size_t first = 0; first < group.size(); first += static_cast<size_t>(together_)) {
      control_.stop_if_cancelled();
      const auto batch =
          std::span(group).subspan(first, std::min(static_cast<size_t>(together_), group.size() - first));
      std::vector<RunBatch::Member> members;
      for (SweptRun* run : batch) members.push_back(member(*run));
      const Pass& pass = pass_of(std::ssize(batch));
      RunBatch probe(std::move(members), text_.chunk);
      probe.begin_pass({.sequences = pass.sequences});
      const Var y = body(context_.with_probe(&probe), LayerCall{.layer = layer, .pass = pass}, batch);
      for (size_t i = 0; i < batch.size(); ++i) {
        const auto row = static_cast<int64_t>(i) * tokens;
        batch[i]->stream = y.value().rows_between(row, row + tokens);
      }
    }
  }
}

void LayerSweep::pass_layer(std::span<SweptRun* const> runs, int64_t layer) {
  each_batch(runs, layer,
             [&](const Context& context, const LayerCall& call, std::span<SweptRun* const> batch) {
               return decoder_.block(layer).apply(context, Var(one_below_the_other(context, batch)), call).y;
             });
}

// The unbroken model through one layer, and those that leave it there.
void LayerSweep::pass_base(SweptRun& base, Entrants& entrants, int64_t layer) {
  const Block& block = decoder_.block(layer);
  const Pass& pass = pass_of(1);
  const LayerCall alone{.layer = layer, .pass = pass};
  RunBatch probe({member(base)}, text_.chunk);
  probe.begin_pass({.sequences = pass.sequences});
  const Context context = context_.with_probe(&probe);
  const Var before(base.stream);
  std::unique_ptr<MixedTokens> mixed;
  if (!entrants.mixed.empty()) mixed = block.mix(context, before, alone);
  if (mixed == nullptr) entrants.mixed_from_stream();
  const LayerOutput middle =
      mixed == nullptr ? block.middle(context, before, alone) : block.middle(context, before, *mixed, alone);
  base.stream = block.finish(context, middle, alone).y.value();
  for (const auto& group : {entrants.stream, entrants.mixed, entrants.middle}) {
    for (SweptRun* run : group) {
      run->signs = base.signs;
      run->stream = before.value();
    }
  }
  each_batch(entrants.mixed, layer,
             [&](const Context& inner, const LayerCall& call, std::span<SweptRun* const> batch) {
               const auto all = mixed->repeated(inner, std::ssize(batch));
               const Var stream(repeat_rows(inner, before.value(), std::ssize(batch)));
               return block.finish(inner, block.middle(inner, stream, *all, call), call).y;
             });
  each_batch(entrants.middle, layer,
             [&](const Context& inner, const LayerCall& call, std::span<SweptRun* const> batch) {
               const Var stream(repeat_rows(inner, middle.y.value(), std::ssize(batch)));
               return block.finish(inner, {.y = stream}, call).y;
             });
}

void LayerSweep::run(SweptRun& base, std::span<SweptRun> runs, Range base_layers) {
  const auto keep = [&](int64_t layer) {
    if (const auto wanted = kept_.find(layer); wanted != kept_.end()) wanted->second = base.stream;
  };
  std::vector<SweptRun*> travelling;
  for (SweptRun& run : runs) {
    if (run.entry.layer != RunEntry::kEmbedding) continue;
    run.stream = embedded(run);
    travelling.push_back(&run);
  }
  for (int64_t layer = base_layers.begin; layer < decoder_.layers(); ++layer) {
    control_.stop_if_cancelled();
    if (layer >= base_layers.end) {
      pass_layer(travelling, layer);
      continue;
    }
    keep(layer);
    Entrants entrants(runs, layer);
    pass_base(base, entrants, layer);
    travelling.insert(travelling.end(), entrants.stream.begin(), entrants.stream.end());
    pass_layer(travelling, layer);
    travelling.insert(travelling.end(), entrants.mixed.begin(), entrants.mixed.end());
    travelling.insert(travelling.end(), entrants.middle.begin(), entrants.middle.end());
  }
  if (base_layers.end == decoder_.layers()) keep(decoder_.layers());
  for (SweptRun& run : runs) {
    if (run.entry.layer != decoder_.layers()) continue;
    run.stream = kept_before(decoder_.layers());
    run.signs = base.signs;
  }
}

}  // namespace sluice
