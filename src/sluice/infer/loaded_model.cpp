#include "sluice/infer/loaded_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sluice/base/error.h"
#include "sluice/model/checkpoint.h"
#include "sluice/model/model_directory.h"

namespace sluice {
namespace {

constexpr std::array<std::pair<std::string_view, DType>, 3> kWeightTypes = {
    {{"f32", DType::F32}, {"bf16", DType::BF16}, {"int8", DType::I8}}};

std::optional<Tokenizer> tokenizer_of(const std::filesystem::path& model, const std::string& named) {
  if (!named.empty()) return Tokenizer::named(named);
  const std::filesystem::path own = model / "tokenizer.json";
  std::error_code unknown;  // what cannot be looked at is opened, which says why
  if (!std::filesystem::exists(own, unknown) && !unknown) return {};
  return Tokenizer::load(own);
}

}  // namespace

DType weight_type(std::string_view name) {
  const auto* found = std::ranges::find(kWeightTypes, name, &std::pair<std::string_view, DType>::first);
  if (found != kWeightTypes.end()) return found->second;
  throw usage_error({.what = "unknown type of weights",
                     .expected = "f32, bf16 or int8",
                     .got = fmt::format("\"{}\"", name)});
}

std::string_view weight_type_name(DType dtype) {
  const auto* found = std::ranges::find(kWeightTypes, dtype, &std::pair<std::string_view, DType>::second);
  SLUICE_ASSERT(found != kWeightTypes.end(), "weight_type_name: no weights in {}", name_of(dtype));
  return found->first;
}

// The tokenizer first: a mistake in its name shows before a large model is read.
LoadedModel::LoadedModel(Engine& engine, const std::filesystem::path& path, const ModelOptions& options,
                         const JobControl& control)
    : engine_(engine),
      path_(model_directory(path, control)),
      dtype_(options.dtype),
      nonfinite_(options.nonfinite),
      tokenizer_(tokenizer_of(path_, options.tokenizer)),
      decoder_(Checkpoint(path_, options.nonfinite, control).load(engine, options.dtype)) {
  const uint32_t trained_with = config().tokenizer;
  if (!tokenizer_ || trained_with == 0 || tokenizer_->fingerprint() == trained_with) return;
  throw bad_input(
      {.where = options.tokenizer.empty() ? (path_ / "tokenizer.json").string() : options.tokenizer,
       .what = "not the tokenizer that the model was trained with",
       .expected = fmt::format("fingerprint {}", fingerprint_text(trained_with)),
       .got = fingerprint_text(tokenizer_->fingerprint())});
}

uint32_t LoadedModel::tokenizer_fingerprint() const {
  if (config().tokenizer != 0) return config().tokenizer;
  return tokenizer_ ? tokenizer_->fingerprint() : 0;
}

const Tokenizer& LoadedModel::tokenizer() const {
  if (tokenizer_) return *tokenizer_;
  throw bad_input({.where = path_.string(),
                   .what = "the model has no tokenizer.json",
                   .hint = "--tokenizer FILE names one, --tokenizer bytes says that its tokens are bytes"});
}

std::vector<TokenId> LoadedModel::encode(std::string_view text) const {
  std::vector<TokenId> ids = tokenizer().encode(text);
  const int64_t vocabulary = config().vocabulary;
  const auto outside = std::ranges::find_if(ids, [&](TokenId id) { return id >= vocabulary; });
  if (outside == ids.end()) return ids;
  throw bad_input({.where = path_.string(),
                   .what = "the tokenizer does not fit the model",
                   .expected = fmt::format("token ids below {}", vocabulary),
                   .got = std::to_string(*outside)});
}

std::string LoadedModel::decode(std::span<const TokenId> ids) const {
  std::vector<TokenId> known(ids.begin(), ids.end());
  std::erase_if(known, [&](TokenId id) { return id >= tokenizer().size() && id < config().vocabulary; });
  return tokenizer().decode(known);
}

}  // namespace sluice
