#include "sluice/cli/training.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sluice/analysis/pulse.h"
#include "sluice/cli/progress.h"

namespace sluice::cli {
namespace {

// A few sequences tell: sink, activation and gates are means over thousands of values each.
constexpr int64_t kPulseSequences = 4;

nlohmann::ordered_json pulse_json(const Pulse& pulse) {
  nlohmann::ordered_json json = {{"sink", pulse.sink},
                                 {"sink_floor", pulse.sink_floor},
                                 {"sink_without_first_4", pulse.sink_late},
                                 {"max_activation", pulse.max_activation}};
  if (pulse.gated) {
    json["gate_mean"] = pulse.gate_mean;
    json["gate_below_0.1"] = pulse.gate_closed;
  }
  return json;
}

}  // namespace

RunEnd train_with_progress(Run& run, const RunConfig& config, Engine& engine, const Session& session,
                           nlohmann::ordered_json* last) {
  Progress progress(session.log, "steps", config.steps() - run.state().step);
  const RunHooks hooks{
      .stepped =
          [&](const StepResult& result, const RunState& state) {
            progress.note(fmt::format("loss {:.4f}, {:.0f} tokens/s", result.loss,
                                      static_cast<double>(state.tokens) / state.seconds));
            progress.done(1);
          },
      .measure =
          [&](Decoder& decoder, const PackedSequences& sequences) {
            PulseProbe probe;
            const Context context{engine, nullptr, &probe};
            for (int64_t i = 0; i < std::min(kPulseSequences, sequences.count()); ++i) {
              const Batch batch = sequences.batch(Range{i, i + 1});
              const Tensor ids = Tensor::from<int32_t>(engine.pool(), {batch.length}, batch.inputs);
              decoder.hidden(context, ids, decoder.place(context, Sequences::equal(1, batch.length)));
            }
            return pulse_json(probe.pulse());
          },
      .validated =
          [&](const nlohmann::ordered_json& line) {
            if (last != nullptr) *last = line;
          }};
  return run.train(hooks);
}

}  // namespace sluice::cli
