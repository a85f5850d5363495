#include "sluice/model/checkpoint.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "sluice/base/error.h"
#include "sluice/model/config_reader.h"
#include "sluice/model/safetensors_elements.h"

namespace sluice {
namespace {

std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kShown = 6;
  const auto shown = std::span(names).first(std::min(kShown, names.size()));
  const std::string more = names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "";
  return fmt::format("{}{}", fmt::join(shown, ", "), more);
}

// Written by some tools although it follows from the rest.
bool is_redundant(const ModelConfig& config, const std::string& name) {
  return name.ends_with(".rotary_emb.inv_freq") || (config.tied && name == "lm_head.weight");
}

void compare_names(const std::string& where, const ModelConfig& config, const TensorStore& store,
                   const std::vector<StoredPart>& parts) {
  std::set<std::string> expected;
  std::vector<std::string> missing, unexpected;
  for (const StoredPart& part : parts) {
    if (expected.insert(part.tensor).second && !store.contains(part.tensor)) missing.push_back(part.tensor);
  }
  for (const std::string& name : store.names()) {
    if (!expected.contains(name) && !is_redundant(config, name)) unexpected.push_back(name);
  }
  if (!missing.empty()) throw bad_input({.where = where, .what = "missing tensors: " + listed(missing)});
  if (!unexpected.empty()) {
    throw bad_input({.where = where,
                     .what = "unexpected tensors: " + listed(unexpected),
                     .hint = "config.json describes another model than the file holds"});
  }
}

}  // namespace

Checkpoint::Checkpoint(const std::filesystem::path& directory) {
  std::error_code unknown;
  if (!std::filesystem::is_directory(directory, unknown)) {
    throw bad_input({.where = directory.string(),
                     .what = "not a model directory",
                     .hint = "it holds config.json and model.safetensors"});
  }
  decoder_ = std::make_unique<Decoder>(load_model_config(directory));
  store_ = std::make_shared<const TensorStore>(directory);
  parts_ = stored_parts(*decoder_);
  compare_names(directory.string(), config(), *store_, parts_);
}

Tensor Checkpoint::read(MemoryPool& pool, size_t parameter, DType dtype) const {
  const auto& [name, shape, rows] = parts_[parameter];
  if (rows.empty()) {
    store_->check({.name = name, .shape = shape, .dtype = dtype});
    const std::byte* stored = store_->bytes(name).data();
    const bool aligned = reinterpret_cast<uintptr_t>(stored) % size_of(dtype) == 0;
    const bool same = store_->info(name).dtype == stored_type_of(dtype);
    if (same && aligned) return Tensor::borrow(store_, stored, shape, dtype);
  }
  Tensor copied = rows.empty()
                      ? store_->read(pool, name, shape, dtype)
                      : store_->read_rows(pool, {.name = name, .shape = shape, .dtype = dtype}, rows);
  // What was copied need not stay in memory as part of the file.
  forget_mapped_pages(store_->bytes(name));
  return copied;
}

std::unique_ptr<Decoder> Checkpoint::load(Engine& engine, DType dtype) && {
  for (size_t i = 0; i < parts_.size(); ++i) {
    const NamedParameter& named = decoder_->parameters()[i];
    const DType kept = named.shape.rank() == 1 ? DType::F32 : dtype;
    named.parameter->value = read(engine.pool(), i, kept);
  }
  return std::move(decoder_);
}

}  // namespace sluice
