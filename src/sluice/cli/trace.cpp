#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/cli/commands.h"
#include "sluice/cli/model_input.h"
#include "sluice/cli/overwriting.h"
#include "sluice/io/safetensors_writer.h"
#include "sluice/probe/probe_chain.h"
#include "sluice/probe/recorder.h"
#include "sluice/probe/trace.h"

namespace sluice::cli {
namespace {

struct Request {
  std::string model, out;
  PromptOptions prompt;
  InterventionOptions interventions;
  std::vector<std::string> captures;
};

std::vector<TensorOutput> outputs_of(const Trace& trace) {
  std::vector<TensorOutput> outputs = {tensor_output("logits", trace.logits),
                                       tensor_output("hidden", trace.hidden),
                                       tensor_output("attn", trace.attn)};
  if (trace.gates.defined()) outputs.push_back(tensor_output("gates", trace.gates));
  return outputs;
}

std::vector<TapPattern> patterns_of(const std::vector<std::string>& texts) {
  std::vector<TapPattern> patterns;
  for (const std::string& text : texts) patterns.emplace_back(text);
  return patterns;
}

// Nothing captured would pass for nothing there.
void check_captures(const std::vector<std::string>& texts, const Recorder& recorder) {
  for (const std::string& text : texts) {
    const TapPattern pattern(text);
    const bool found = std::ranges::any_of(recorder.values(), [&](const auto& each) {
      return pattern.matches({each.first.first, each.first.second});
    });
    if (!found)
      throw usage_error({.where = "--capture", .what = fmt::format("the model has no \"{}\"", text)});
  }
}

// A tap that is passed once has its name; attention of several sequences never happens here.
void add_captures(const Recorder& recorder, std::vector<TensorOutput>& outputs) {
  for (const auto& [place, values] : recorder.values()) {
    const TapName name{place.first, place.second};
    if (name.point == points::kLogits) continue;  // they are written anyway
    outputs.push_back(tensor_output(name.text(), values.front()));
  }
}

void run(const Request& request, const Session& session) {
  if (request.out.empty()) throw usage_error({.where = "trace", .what = "--out is required"});
  refuse_overwriting(request.out, std::span(&request.model, 1));
  const RunnableModel model = open_model(session, request.model);
  const std::vector<int32_t> ids = request.prompt.tokens(model, "trace");
  const auto intervener = request.interventions.intervener(model);
  Recorder recorder(patterns_of(request.captures));
  ProbeChain probes({intervener.get(), &recorder});
  const Trace traced = trace(model.context(&probes), *model.decoder, ids);
  check_captures(request.captures, recorder);
  if (intervener) intervener->check_effect();
  std::vector<TensorOutput> outputs = outputs_of(traced);
  add_captures(recorder, outputs);
  SafetensorsMetadata metadata = {{"format", "pt"}, {"ids", fmt::format("{}", fmt::join(ids, ","))}};
  // Only some layers may have a gate; this says which rows of `gates` belong to which.
  if (traced.gates.defined()) metadata["gate_layers"] = fmt::format("{}", fmt::join(traced.gate_layers, ","));
  write_safetensors(request.out, outputs, metadata);

  nlohmann::ordered_json shapes;
  std::string text;
  for (const TensorOutput& output : outputs) {
    const Shape& shape = output.info.shape;
    std::vector<int64_t> dims;
    for (int axis = 0; axis < shape.rank(); ++axis) dims.push_back(shape[axis]);
    shapes[output.name] = dims;
    text += fmt::format("{:<24}{}\n", output.name, shape.text());
  }
  if (session.options.json) {
    session.out << nlohmann::ordered_json{{"out", request.out}, {"ids", ids}, {"tensors", shapes}}.dump(
                       2, ' ', false, nlohmann::json::error_handler_t::replace)
                << '\n';
  } else {
    session.out << text << "written to " << request.out << '\n';
  }
}

Action declare_trace(Options& options) {
  auto request = std::make_shared<Request>();
  options.argument({.name = "MODEL", .value = "", .text = "A model directory"}, Presence::Required,
                   request->model);
  request->prompt.declare(options);
  options.repeated({.name = "--capture",
                    .value = "TAP",
                    .text = "Write these values, too: attn.q, layers.0-3.mlp.out, attn.*"},
                   request->captures);
  request->interventions.declare(options);
  options.text({.name = "--out", .value = "FILE", .text = "Where to write the tensors (.safetensors)"},
               request->out);
  return [request](const Session& session) { run(*request, session); };
}

}  // namespace

Command trace_command() {
  return {.name = "trace",
          .summary = "Write logits, hidden states, attention and gates of a forward pass",
          .description =
              "Runs a model on a prompt and writes, as f32 tensors of a safetensors file: logits [T, V], "
              "hidden [L+1, T, D] (the embedding, then each block's output before the final norm), attn "
              "[L, H, T, T], and for models with a g1 gate gates [L, T, H, head_dim] (headwise: 1).",
          .examples = {"sluice trace path/to/model --prompt \"Hello\" --out trace.safetensors",
                       "sluice trace path/to/model --ids 1,2,3 --out trace.safetensors --json"},
          .dtype = model_dtype(),
          .declare = declare_trace};
}

}  // namespace sluice::cli
