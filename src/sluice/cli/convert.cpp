#include "sluice/cli/commands.h"
#include "sluice/cli/model_input.h"
#include "sluice/cli/use_case.h"
#include "sluice/model/conversion.h"

namespace sluice::cli {
namespace {

struct ConvertOptions {
  std::string in, out, layout;
  NonFiniteOption weights;
};

std::optional<GateLayout> layout_named(const std::string& name) {
  if (name == "official") return GateLayout::PackedPerGroup;
  if (name == "qwen3-next") return GateLayout::PackedPerHead;
  if (name == "separate") return GateLayout::Separate;
  return {};
}

std::optional<StoredType> type_named(const std::string& name) {
  if (name == "f32") return StoredType::F32;
  if (name == "bf16") return StoredType::BF16;
  if (name == "f16") return StoredType::F16;
  return {};
}

void run(const ConvertOptions& request, const Session& session) {
  const Conversion conversion{.layout = layout_named(request.layout),
                              .dtype = type_named(session.options.dtype),
                              .nonfinite = request.weights.nonfinite()};
  const WrittenModel written = convert_model(request.in, request.out, conversion, job_control(session));
  print_result(session, written);
}

Action declare_convert(Options& options) {
  auto request = std::make_shared<ConvertOptions>();
  options.argument({.name = "IN", .value = "", .text = "A model directory, or a run's: its best checkpoint"},
                   Presence::Required, request->in);
  options.argument({.name = "OUT", .value = "", .text = "The directory to write; new or empty"},
                   Presence::Required, request->out);
  options.choice({.name = "--layout",
                  .value = "NAME",
                  .text = "How the gate is stored: official (in q_proj, per key/value group), qwen3-next (in "
                          "q_proj, per head), separate (a tensor of its own) (default: as it is)",
                  .words = {"official", "qwen3-next", "separate"}},
                 request->layout);
  request->weights.declare(options);
  return [request](const Session& session) { run(*request, session); };
}

}  // namespace

Command convert_command() {
  return {.name = "convert",
          .summary = "Rewrite a model in another layout or element type",
          .description =
              "Copies a model directory, tokenizer and generation settings included, with gates stored in "
              "another layout or tensors in another element type. A layout that cannot express the model is "
              "refused with the reason.",
          .examples = {"sluice convert path/to/model model-separate --layout separate",
                       "sluice convert path/to/model model-bf16 --dtype bf16"},
          .dtype = {.text = "Store as f32, bf16 or f16 (default: each tensor as it is)",
                    .words = {"f32", "bf16", "f16"}},
          .declare = declare_convert};
}

}  // namespace sluice::cli
