// A model that can be run: its decoder and its tokenizer. Const in use, so several jobs may share one.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/model/checkpoint.h"
#include "sluice/text/tokenizer.h"

namespace sluice {

// The types that weights can be kept in, as people name them: f32, bf16, int8.
DType weight_type(std::string_view name);
std::string_view weight_type_name(DType dtype);

struct ModelOptions {
  DType dtype = DType::F32;    // of the matrices, whatever the file has: F32, BF16 or I8
  std::string tokenizer = {};  // as Tokenizer::named() takes it; empty: the model's own, if it has one
  NonFinite nonfinite = NonFinite::Refused;  // weights, and what a trace shows
};

class LoadedModel {
 public:
  // A model directory or a run's (model/model_directory.h). Several models may share an engine, which must
  // outlive them. Bad input if the model was trained with another tokenizer.
  LoadedModel(Engine& engine, const std::filesystem::path& path, const ModelOptions& options = {},
              const JobControl& control = {});

  const std::filesystem::path& path() const { return path_; }
  const ModelConfig& config() const { return decoder_->config(); }
  DType dtype() const { return dtype_; }
  NonFinite nonfinite() const { return nonfinite_; }
  Engine& engine() const { return engine_; }
  const Decoder& decoder() const { return *decoder_; }

  // A model without one still runs on token ids.
  bool has_tokenizer() const { return tokenizer_.has_value(); }

  // Bad input if there is none: what its tokens stand for is not guessed.
  const Tokenizer& tokenizer() const;

  // Of the tokenizer that it was trained with, else of the one that it has; 0 if neither is known.
  uint32_t tokenizer_fingerprint() const;

  // Also if a token of the text is not in the model's vocabulary.
  std::vector<TokenId> encode(std::string_view text) const;

  // Ids of the model that are beyond its tokenizer's have no text: a vocabulary may be padded.
  std::string decode(std::span<const TokenId> ids) const;

  // For inference, with a probe or without. Jobs of many passes keep weights packed: the first pass takes
  // longer and memory moves from the file to the process. A single prompt is answered sooner without.
  Context context(Probe* probe = nullptr, Packing packing = Packing::Once) const {
    return {.engine = engine_, .probe = probe, .packing = packing};
  }

 private:
  Engine& engine_;
  std::filesystem::path path_;
  DType dtype_;
  NonFinite nonfinite_;
  std::optional<Tokenizer> tokenizer_;
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace sluice
