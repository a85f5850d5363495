#include "sluice/cli/bench_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/error.h"

namespace sluice::cli {
namespace {

enum class Takes { Model, Weights, Config, Tokens, Repeat, Data, Shape, Plan, Network };

struct Part {
  const char* name;
  const char* text;
  std::vector<Takes> takes;  // a model and data, where they are taken, are required; a configuration is not
  const char* shape = "";    // what --shape gives
};

const std::vector<Part> kParts = {
    {"peak", "arithmetic and memory", {}},
    {"gemm", "products of a layer", {Takes::Repeat, Takes::Shape}, "MxNxK"},
    {"attention", "", {Takes::Repeat, Takes::Shape}, "HEADSxTOKENSxSIZE"},
    {"ops", "what is bounded by memory", {Takes::Repeat, Takes::Shape}, "TOKENSxHIDDENxVOCABULARY"},
    {"moe", "experts beside a dense product", {Takes::Repeat, Takes::Shape}, "TOKENSxHIDDENxWIDTH"},
    {"prefill", "reading a prompt", {Takes::Model, Takes::Weights, Takes::Tokens, Takes::Repeat}},
    {"decode", "generating", {Takes::Model, Takes::Weights, Takes::Tokens, Takes::Repeat}},
    {"look",
     "measuring gates and attention beside evaluating",
     {Takes::Model, Takes::Weights, Takes::Tokens, Takes::Repeat}},
    {"ablate",
     "breaking a model with shared and with separate runs",
     {Takes::Model, Takes::Weights, Takes::Tokens, Takes::Repeat, Takes::Plan}},
    {"explore", "what somebody at the explorer waits for", {Takes::Model, Takes::Weights, Takes::Repeat}},
    {"train", "whole steps", {Takes::Config, Takes::Repeat}},
    {"neighbour", "training beside a busy process", {Takes::Config, Takes::Repeat}},
    {"scale", "training on several ranks", {Takes::Config, Takes::Repeat, Takes::Network}},
    {"ranks", "several ranks beside one process with their threads", {Takes::Config, Takes::Repeat}},
    {"tokenizer", "encoding text", {Takes::Model, Takes::Repeat, Takes::Data}}};

const Part& part_of(const BenchOptions& options) {
  return *std::ranges::find(kParts, options.what, [](const Part& each) { return each.name; });
}

OptionDescription part_argument() {
  OptionDescription argument{.name = "WHAT", .value = "", .text = ""};
  for (const Part& part : kParts) {
    argument.words.emplace_back(part.name);
    argument.text += fmt::format("{}{}", argument.text.empty() ? "" : ", ", part.name);
    if (*part.text != '\0') argument.text += fmt::format(" ({})", part.text);
  }
  return argument;
}

}  // namespace

std::vector<bench::CaseShape> BenchOptions::case_shapes() const {
  std::vector<bench::CaseShape> parsed;
  for (const std::string& text : shapes) {
    const std::optional<bench::CaseShape> shape = bench::parse_case_shape(text);
    if (!shape) {
      throw usage_error({.where = fmt::format("bench {}: --shape", what),
                         .expected = fmt::format("{}, each from 1 to {} and not all so large",
                                                 part_of(*this).shape, 1 << 20),
                         .got = fmt::format("\"{}\"", text)});
    }
    parsed.push_back(*shape);
  }
  return parsed;
}

void declare(Options& options, BenchOptions& target) {
  options.argument(part_argument(), Presence::Required, target.what);
  options.argument(
      {.name = "MODEL",
       .value = "",
       .text = "A model directory, or a run's; for tokenizer its file; for train, scale, ranks and neighbour "
               "a run's "
               "configuration (default: the 51M reproduction, 8 x 512 tokens, and for neighbour a tiny "
               "model, 16 x 128)"},
      Presence::Optional, target.model);
  options.integer(
      {.name = "--tokens",
       .value = "N",
       .text = "Tokens of the prompt (prefill, default: 512), of a chunk (look and ablate, default: 512) "
               "or new ones (decode, default: 32)",
       .low = 2,
       .high = 1 << 20},
      target.tokens);
  options.integer({.name = "--repeat",
                   .value = "N",
                   .text = "Repetitions, of which the median is shown (default: 5, of explore 20)",
                   .low = 1,
                   .high = 1000},
                  target.repeat);
  options.repeated(
      {.name = "--shape",
       .value = "AxBxC",
       .text = "Instead of the usual shapes, may be repeated: MxNxK (gemm), heads x tokens x head "
               "size (attention), tokens x hidden x vocabulary (ops), tokens x hidden x width of an expert "
               "(moe, once)"},
      target.shapes);
  options.list({.name = "--data", .value = "FILE...", .text = "Text for the tokenizer to encode"},
               target.data);
  options.integer({.name = "--chunks",
                   .value = "N",
                   .text = "Chunks of a repetition (ablate, default: 1)",
                   .low = 1,
                   .high = 1 << 20},
                  target.chunks);
  options.integer({.name = "--naive-runs",
                   .value = "N",
                   .text = "Time only N of the separate runs, spread over the plan (ablate, default: all)",
                   .low = 1,
                   .high = 1 << 20},
                  target.naive_runs);
  options.flag("--layers-only", target.layers_only, "Break each layer, and nothing else (ablate)");
  options.repeated({.name = "--set", .value = "A.B=V", .text = "Change a value of that configuration"},
                   target.changes);
  options.number({.name = "--latency",
                  .value = "US",
                  .text = "Of a message, in microseconds, on the network to predict for (scale, default: 2)",
                  .low = 0.001,
                  .high = 1e6},
                 target.latency);
  options.number({.name = "--bandwidth",
                  .value = "GB/S",
                  .text = "Of a node on that network, in GB/s (scale, default: 12.5)",
                  .low = 0.001,
                  .high = 1e6},
                 target.bandwidth);
  target.weights.declare(options);
}

void check(const BenchOptions& options, const CommonOptions& common) {
  const Part& part = part_of(options);
  const std::string where = fmt::format("bench {}", part.name);
  const auto takes = [&](Takes what) { return std::ranges::find(part.takes, what) != part.takes.end(); };
  const auto refuse_unless = [&](bool taken, bool given, const char* name) {
    if (given && !taken) throw usage_error({.where = where, .what = fmt::format("takes no {}", name)});
  };
  refuse_unless(takes(Takes::Model) || takes(Takes::Config), !options.model.empty(), "model");
  refuse_unless(takes(Takes::Tokens), options.tokens.has_value(), "--tokens");
  refuse_unless(takes(Takes::Weights), common.dtype == "int8", "--dtype int8");
  refuse_unless(takes(Takes::Weights), options.weights.allow, "--allow-nonfinite");
  refuse_unless(takes(Takes::Repeat), options.repeat.has_value(), "--repeat");
  refuse_unless(takes(Takes::Data), !options.data.empty(), "--data");
  refuse_unless(takes(Takes::Shape), !options.shapes.empty(), "--shape");
  refuse_unless(takes(Takes::Config), !options.changes.empty(), "--set");
  refuse_unless(takes(Takes::Plan), options.chunks.has_value(), "--chunks");
  refuse_unless(takes(Takes::Plan), options.naive_runs.has_value(), "--naive-runs");
  refuse_unless(takes(Takes::Plan), options.layers_only, "--layers-only");
  refuse_unless(takes(Takes::Network), options.latency > 0, "--latency");
  refuse_unless(takes(Takes::Network), options.bandwidth > 0, "--bandwidth");
  if (options.model.empty() && takes(Takes::Model)) {
    throw usage_error(
        {.where = where, .what = "a model is missing", .hint = "sluice init makes one with random weights"});
  }
  if (options.data.empty() && takes(Takes::Data))
    throw usage_error({.where = where, .what = "--data is required"});
}

}  // namespace sluice::cli
