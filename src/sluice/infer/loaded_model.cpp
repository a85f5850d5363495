#include "sluice/infer/loaded_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/error.h"
#include "sluice/model/checkpoint.h"

namespace sluice {

LoadedModel::LoadedModel(Engine& engine, const std::filesystem::path& path, DType dtype)
    : engine_(engine),
      path_(path),
      decoder_(load_model(engine, path, dtype)),
      tokenizer_(Tokenizer::load(path)) {}

std::vector<TokenId> LoadedModel::encode(std::string_view text) const {
  std::vector<TokenId> ids = tokenizer_.encode(text);
  const int64_t vocabulary = config().vocabulary;
  const auto outside = std::ranges::find_if(ids, [&](TokenId id) { return id >= vocabulary; });
  if (outside == ids.end()) return ids;
  throw bad_input({.where = path_.string(),
                   .what = "the tokenizer does not fit the model",
                   .expected = fmt::format("token ids below {}", vocabulary),
                   .got = std::to_string(*outside)});
}

}  // namespace sluice
