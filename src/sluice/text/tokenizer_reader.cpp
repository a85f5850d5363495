// The whole file but for vocabulary, merges and added tokens.
#include <fmt/format.h>

#include "sluice/text/tokenizer_vocabulary_reader.h"

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

void check_absent(const Json& json, std::string_view key, const std::string& hint) {
  if (json.contains(key)) throw json.at(key).unexpected("null", hint);
}

void check_model(const Json& model) {
  model.allow_keys({"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
                    "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"});
  // Files from before there were several types do not say it.
  if (model.text_or("type", "BPE") != "BPE") {
    throw model.at("type").unexpected("\"BPE\"", "only byte-level BPE tokenizers are supported");
  }
  if (model.number_or("dropout", 0.0) != 0.0) {
    throw model.at("dropout").unexpected("null", "random tokens are not supported");
  }
  check_absent(model, "unk_token", "byte-level tokenizers know all bytes");
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!model.text_or(key, "").empty()) throw model.at(key).unexpected("null or \"\"");
  }
  if (model.boolean_or("byte_fallback", false)) {
    throw model.at("byte_fallback").unexpected("false", "byte-level tokenizers know all bytes");
  }
  model.boolean_or("fuse_unk", false);  // has no meaning without an unknown token
}

void check_single_bytes(const Json& model, const Vocabulary& vocabulary, TokenId model_size) {
  for (int byte = 0; byte < 256; ++byte) {
    const TokenId id = vocabulary.single_bytes()[static_cast<std::size_t>(byte)];
    if (id < 0 || id >= model_size) {
      throw bad_input({.where = model.at("vocab").where(),
                       .what = fmt::format("no token for the byte 0x{:02X}", byte),
                       .hint = "text with it could not be encoded"});
    }
  }
}

}  // namespace

TokenizerParts read_tokenizer(const Json& json) {
  json.allow_keys({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                   "post_processor", "decoder", "model"});
  if (json.text_or("version", "1.0") != "1.0") throw json.at("version").unexpected("\"1.0\"");
  check_absent(json, "truncation", "text is never cut");
  check_absent(json, "padding", "text is never padded");
  // The post-processor adds special tokens, which encoding does not do here, and trims offsets, which there
  // are none of.
  const Json model = json.at("model");
  check_model(model);
  std::vector<std::string> spellings = read_vocabulary(model);
  const auto model_size = static_cast<TokenId>(spellings.size());
  std::vector<AddedToken> added = read_added_tokens(json, spellings);
  Vocabulary vocabulary(std::move(spellings));
  check_single_bytes(model, vocabulary, model_size);
  MergeTable merges = read_merges(model, vocabulary);
  check_decoder(json);
  return {.vocabulary = std::move(vocabulary),
          .model_size = model_size,
          .merges = std::move(merges),
          .ignore_merges = model.boolean_or("ignore_merges", false),
          .normalization = read_normalizer(json),
          .pre_tokenizer = read_pre_tokenizer(json),
          .added = std::move(added)};
}

}  // namespace sluice
