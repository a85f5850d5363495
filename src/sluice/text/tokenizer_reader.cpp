// The whole file, and the part of the model that is neither vocabulary nor merges.
#include <fmt/format.h>

#include "sluice/text/tokenizer_readers.h"

namespace sluice {
namespace {

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
