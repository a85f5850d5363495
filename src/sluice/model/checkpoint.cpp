#include "sluice/model/checkpoint.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "sluice/base/error.h"
#include "sluice/base/file.h"
#include "sluice/io/elements.h"
#include "sluice/io/nonfinite.h"
#include "sluice/model/config_reader.h"
#include "sluice/model/model_directory.h"

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

// What holds all stored values as they are.
DType exact_type(StoredType stored) {
  return stored == StoredType::BF16 ? DType::BF16 : DType::F32;
}

}  // namespace

Checkpoint::Checkpoint(const std::filesystem::path& path, NonFinite nonfinite, const JobControl& control)
    : nonfinite_(nonfinite) {
  const std::filesystem::path directory = model_directory(path, control);
  std::error_code unknown;
  if (!std::filesystem::is_directory(directory, unknown)) {
    throw bad_input({.where = directory.string(),
                     .what = "not a model directory",
                     .hint = "it holds config.json and model.safetensors"});
  }
  decoder_ = std::make_unique<Decoder>(load_model_config(directory, control));
  store_ = std::make_shared<const TensorStore>(directory);
  parts_ = stored_parts(*decoder_);
  compare_names(directory.string(), config(), *store_, parts_);
}

// A part at a time is in memory: a matrix that is then quantised or copied need not be there as a whole.
void Checkpoint::check_finite(const std::string& tensor) const {
  constexpr size_t kPart = size_t{1} << 24;  // bytes; whole elements of every type
  const StoredType type = store_->info(tensor).dtype;
  const std::span<const std::byte> bytes = store_->bytes(tensor);
  for (size_t first = 0; first < bytes.size(); first += kPart) {
    const auto part = bytes.subspan(first, std::min(kPart, bytes.size() - first));
    const auto found = first_nonfinite(part, type, threads_);
    forget_mapped_pages(part);
    if (!found) continue;
    const auto index = static_cast<int64_t>(first / size_of(type)) + found->index;
    throw bad_input({.where = store_->file_name(tensor),
                     .what = fmt::format("{}[{}] is {}", tensor, index, found->value),
                     .expected = "finite weights",
                     .hint = "--allow-nonfinite loads it all the same"});
  }
}

Tensor Checkpoint::read(MemoryPool& pool, size_t parameter, DType dtype) const {
  const auto& [name, shape, rows] = parts_[parameter];
  store_->check({.name = name, .shape = shape, .dtype = dtype});
  if (nonfinite_ == NonFinite::Refused) check_finite(name);
  if (rows.empty()) {
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

// Some rows at a time, and what was read of the file is given back at once: the matrix is never in memory
// both ways.
Int8Matrix Checkpoint::read_int8(Engine& engine, size_t parameter) const {
  constexpr int64_t kElements = 1 << 23;
  const Context context{engine};
  const Tensor source = read(engine.pool(), parameter, exact_type(stored_type(parameter)));
  Int8Matrix matrix = empty_int8_matrix(context, source.rows(), source.cols());
  const int64_t step =
      kInt8Outputs * std::max<int64_t>(1, kElements / (kInt8Outputs * std::max<int64_t>(1, source.cols())));
  for (int64_t first = 0; first < source.rows(); first += step) {
    quantize_rows(context, source, {first, std::min(first + step, source.rows())}, matrix);
    forget_mapped_pages(store_->bytes(parts_[parameter].tensor));
  }
  return matrix;
}

void Checkpoint::load_matrix(Engine& engine, size_t parameter, DType dtype) {
  Parameter& loaded = *decoder_->parameters()[parameter].parameter;
  if (dtype != DType::I8) {
    loaded.value = read(engine.pool(), parameter, dtype);
    return;
  }
  const bool embedding = &loaded == &decoder_->embedding_weight();
  if (embedding) loaded.value = read(engine.pool(), parameter, exact_type(stored_type(parameter)));
  if (!embedding || &loaded == &decoder_->output_weight()) set_int8(loaded, read_int8(engine, parameter));
}

std::unique_ptr<Decoder> Checkpoint::load(Engine& engine, DType dtype) && {
  threads_ = engine.threads();
  for (size_t i = 0; i < parts_.size(); ++i) {
    const NamedParameter& named = decoder_->parameters()[i];
    if (named.shape.rank() == 1 || named.use == MatrixUse::Router) {
      named.parameter->value = read(engine.pool(), i, DType::F32);
    } else {
      load_matrix(engine, i, dtype);
    }
  }
  // Copies that were only there to be quantised.
  if (dtype == DType::I8) engine.pool().release_unused();
  return std::move(decoder_);
}

}  // namespace sluice
