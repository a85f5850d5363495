// A model that can be run: its decoder, its tokenizer, and the weights that stay packed between passes.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "sluice/model/decoder.h"
#include "sluice/text/tokenizer.h"

namespace sluice {

class LoadedModel {
 public:
  // Matrices are kept in `dtype` (F32, BF16 or I8), whatever the file has. Several models may share an
  // engine, which must outlive them.
  LoadedModel(Engine& engine, const std::filesystem::path& path, DType dtype = DType::F32);

  const std::filesystem::path& path() const { return path_; }
  const ModelConfig& config() const { return decoder_->config(); }
  Engine& engine() const { return engine_; }
  const Decoder& decoder() const { return *decoder_; }
  const Tokenizer& tokenizer() const { return tokenizer_; }

  // For inference, watched by a probe or by none.
  Context context(Probe* probe = nullptr) const {
    return Context{engine_, nullptr, probe}.with_packing(packing_);
  }

  // For jobs of many passes. The first takes longer and memory moves from the file to the process; a single
  // prompt is answered sooner without.
  void keep_weights_packed() { packing_ = Packing::Keep; }

  // Bad input if a token of the text is not in the model's vocabulary.
  std::vector<TokenId> encode(std::string_view text) const;

 private:
  Engine& engine_;
  std::filesystem::path path_;
  std::unique_ptr<Decoder> decoder_;
  Tokenizer tokenizer_;
  Packing packing_ = Packing::Once;
};

}  // namespace sluice
