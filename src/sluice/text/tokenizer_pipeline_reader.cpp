// What happens to text around the merges: normalizer, pre_tokenizer, decoder.
#include <fmt/format.h>

#include "sluice/text/tokenizer_readers.h"

namespace sluice {
namespace {

// A step, or the steps of a sequence of steps of sequences.
void append_steps(const Json& json, std::string_view list, std::vector<Json>& steps) {
  if (json.text("type") != "Sequence") return steps.push_back(json);
  json.allow_keys({"type", list});
  for (const Json& each : json.at(list).array()) append_steps(each, list, steps);
}

std::vector<Json> steps_of(const Json& file, std::string_view section, std::string_view list) {
  std::vector<Json> steps;
  if (file.contains(section)) append_steps(file.at(section), list, steps);
  return steps;
}

bool is_byte_level(const Json& step) {
  return step.text("type") == "ByteLevel";
}

void check_byte_level_keys(const Json& step) {
  step.allow_keys({"type", "add_prefix_space", "trim_offsets", "use_regex"});
}

Pattern read_split(const Json& step) {
  if (step.text("type") != "Split") {
    throw step.at("type").unexpected("\"Split\" or \"ByteLevel\"", "other pre-tokenizers are not supported");
  }
  step.allow_keys({"type", "pattern", "behavior", "invert"});
  if (step.text("behavior") != "Isolated") throw step.at("behavior").unexpected("\"Isolated\"");
  step.boolean_or("invert", false);  // all pieces are kept, so it does not matter which of them match
  const Json pattern = step.at("pattern");
  pattern.allow_keys({"Regex", "String"});
  const bool literal = pattern.contains("String");
  if (literal == pattern.contains("Regex")) throw pattern.unexpected("either a Regex or a String");
  const Json text = pattern.at(literal ? "String" : "Regex");
  return Pattern({.kind = literal ? Pattern::Kind::Literal : Pattern::Kind::Regex,
                  .text = text.text(),
                  .where = text.where()});
}

void read_byte_level(const Json& step, PreTokenizer& result) {
  check_byte_level_keys(step);
  step.boolean_or("trim_offsets", true);
  result.prefix_space = step.boolean_or("add_prefix_space", true);
  if (step.boolean_or("use_regex", true)) {
    result.final_split = Pattern({.text = text_of(WordPattern::Gpt2), .where = step.where()});
  }
}

}  // namespace

Normalization read_normalizer(const Json& file) {
  Normalization result = Normalization::None;
  for (const Json& step : steps_of(file, "normalizer", "normalizers")) {
    if (step.text("type") != "NFC") {
      throw step.at("type").unexpected("\"NFC\"", "other normalizers are not supported");
    }
    step.allow_keys({"type"});
    result = Normalization::Nfc;
  }
  return result;
}

PreTokenizer read_pre_tokenizer(const Json& file) {
  constexpr std::size_t kMaxSplits = 64;  // each is compiled to machine code; published files have up to 4
  const std::vector<Json> steps = steps_of(file, "pre_tokenizer", "pretokenizers");
  if (steps.empty() || !is_byte_level(steps.back())) {
    throw file.at("pre_tokenizer")
        .unexpected("a ByteLevel at the end", "only byte-level BPE tokenizers are supported");
  }
  if (steps.size() > kMaxSplits) {
    throw file.at("pre_tokenizer").unexpected(fmt::format("at most {} steps", kMaxSplits));
  }
  PreTokenizer result;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) result.splits.push_back(read_split(steps[i]));
  read_byte_level(steps.back(), result);
  return result;
}

void check_decoder(const Json& file) {
  const std::vector<Json> steps = steps_of(file, "decoder", "decoders");
  if (steps.size() != 1 || !is_byte_level(steps.front())) {
    throw file.at("decoder").unexpected("ByteLevel", "other decoders are not supported");
  }
  check_byte_level_keys(steps.front());
}

}  // namespace sluice
